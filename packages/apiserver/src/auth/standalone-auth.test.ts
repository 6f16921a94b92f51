import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import {
  connect,
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { TLSSocket } from "node:tls";

import { silentLog, systemClock, systemRandom } from "@keelson/base";
import { StatusError } from "@keelson/kube";
import { parse } from "yaml";

import { clientCertificates } from "./client-certificates.ts";
import { distinctHeaders } from "./headers.ts";
import { clientCertificateOptions, followCertificates, servingOptions } from "./pki/serving.ts";
import { openStandaloneAuth } from "./standalone-auth.ts";

const empty = {
  values: () => [].values(),
  onChange: () => ({ [Symbol.dispose]: () => undefined }),
};
const mirrors = { Role: empty, RoleBinding: empty, ClusterRole: empty, ClusterRoleBinding: empty };

suite("standalone identity", () => {
  test("whoever holds the kubeconfig is the administrator; others are who they are", async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), "keelson-auth-"));
    const tokenFile = join(folder.path, "tokens.csv");
    writeFileSync(tokenFile, "secret,bob,7\n");
    using auth = await openStandaloneAuth({
      certDir: join(folder.path, "pki"),
      tokenFile,
      objects: { find: () => undefined },
      mirrors,
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
    });
    const server = createSecureServer({
      ...servingOptions(auth.certificates.current),
      ...clientCertificateOptions,
    });
    using _ = followCertificates(auth.certificates, server);
    t.after(() => server.close());
    const answer = async (
      request: Http2ServerRequest,
      response: Http2ServerResponse,
    ): Promise<void> => {
      try {
        const found = await auth.authenticator.authenticate(
          {
            certificates: clientCertificates(request.stream.session?.socket as TLSSocket),
            authorization: request.headers.authorization,
            headers: distinctHeaders(request.rawHeaders),
          },
          t.signal,
        );
        response.end(found?.user.name ?? "");
      } catch (error) {
        response.end(error instanceof StatusError ? error.message : "?");
      }
    };
    server.on("request", (request, response) => void answer(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" ? (address?.port ?? 0) : 0;
    const path = join(folder.path, "kubeconfig");
    await auth.writeKubeconfig(path, `https://127.0.0.1:${port}`);

    const config = parse(readFileSync(path, "utf8")) as {
      clusters: { cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const decode = (text = ""): Buffer => Buffer.from(text, "base64");
    const { server: url = "", "certificate-authority-data": ca } =
      config.clusters[0]?.cluster ?? {};
    const user = config.users[0]?.user ?? {};
    const ask = async (client: object, headers: Record<string, string> = {}): Promise<string> => {
      const session = connect(url, { ca: decode(ca), ...client });
      try {
        const stream = session.request({ ":path": "/", ...headers });
        const chunks: Buffer[] = [];
        for await (const chunk of stream) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString();
      } finally {
        session.close();
      }
    };
    const admin = {
      cert: decode(user["client-certificate-data"]),
      key: decode(user["client-key-data"]),
    };
    assert.deepEqual(
      [
        await ask(admin),
        await ask({}, { authorization: "Bearer secret" }),
        await ask({}, { authorization: "Bearer other" }),
        await ask({}, { "x-remote-user": "root" }),
      ],
      ["kubernetes-admin", "bob", "Unauthorized", "system:anonymous"],
    );
  });
});
