// An admission webhook of a real cluster that keeps everybody waiting until it is let go.

import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CertificateAuthority } from "../tools/certificates.ts";

export class HangingWebhook implements AsyncDisposable {
  readonly #server: Server;
  readonly #authority: string;
  readonly #letGo = Promise.withResolvers<void>();
  /** How often it was asked. */
  asked = 0;

  private constructor(server: Server, authority: string) {
    this.#server = server;
    this.#authority = authority;
    server.on("request", (request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<HangingWebhook> {
    const authority = await CertificateAuthority.create("webhooks");
    const { certificate, key } = await authority.issue({ name: "hook", hosts: ["127.0.0.1"] });
    const server = createServer({ cert: certificate, key });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new HangingWebhook(server, authority.certificate);
  }

  /** From now on whatever is asked is allowed at once. */
  letGo(): void {
    this.#letGo.resolve();
  }

  /** Asked about ConfigMaps with these labels. */
  configuration(matchLabels: Readonly<Record<string, string>>): object {
    const { port } = this.#server.address() as AddressInfo;
    const caBundle = Buffer.from(this.#authority).toString("base64");
    const operations = ["CREATE", "UPDATE"];
    return {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "hangs" },
      webhooks: [
        {
          name: "hangs.example.com",
          clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations, resources: ["configmaps"] }],
          objectSelector: { matchLabels },
          failurePolicy: "Fail",
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          timeoutSeconds: 30,
        },
      ],
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.letGo();
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, "close");
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    this.asked += 1;
    await this.#letGo.promise;
    const review = JSON.parse(Buffer.concat(pieces).toString()) as { request: { uid: string } };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        response: { uid: review.request.uid, allowed: true },
      }),
    );
  }
}
