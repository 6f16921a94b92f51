import assert from "node:assert/strict";

import { isJsonObject, type JsonObject } from "@keelson/base";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { messageOf, type Reply } from "../testing/api.ts";
import { eachBackend } from "../testing/each-backend.ts";
import { core } from "../testing/objects.ts";

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

/** A request for the name `minimal`, signed by its own key. */
const signed = [
  "MIHMMHQCAQAwEjEQMA4GA1UEAxMHbWluaW1hbDBZMBMGByqGSM49AgEGCCqGSM49",
  "AwEHA0IABNloXIF5w+HvgAso84y2ififeb08H+g6WcdFKMgf9yH+3/KKg0xUZKSD",
  "IdYyGBY2IuuLPZoa8NN/MESm/6YPuPGgADAKBggqhkjOPQQDAgNIADBFAiEA05wX",
  "EqhH8SKzDFhTj4v4WlYiVc0qcc6xdc4cSer1e50CID0sn22jN9nrVmzh3uRXXpc/",
  "/KHNS+rEjBkKXxIO8roO",
].join("\n");

function request(name: string, body: string): JsonObject {
  const pem = `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString("base64"),
      signerName: "example.com/x",
      usages: ["client auth"],
    },
  };
}

const pod: JsonObject = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "p" },
  spec: {
    containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }],
  },
};

eachBackend(
  "subresources",
  () => sharedThrowawayPostgres("embedded"),
  (it) => {
    it("a request for a certificate is taken if its own key has signed it", async ({ api }) => {
      const forged = signed.replace("e50CID0sn22jN9nr", "e50CID0sn22jN9ns");
      const refused = await api.create(requests, request("forged", forged));
      assert.equal(refused.code, 422);
      assert.match(messageOf(refused), /: x509: ECDSA verification failure$/);
      assert.equal((await api.create(requests, request("signed", signed))).code, 201);
    });

    it("a request is approved at /approval and nowhere else", async ({ api }) => {
      await api.create(requests, request("wanted", signed));
      const conditions = [{ type: "Approved", status: "True", reason: "R", message: "m" }];
      const elsewhere = await api.merge(`${requests}/wanted/status`, { status: { conditions } });
      assert.equal(elsewhere.code, 422);
      const certificate = Buffer.from("x").toString("base64");
      const approved = await api.merge(`${requests}/wanted/approval`, {
        status: { conditions, certificate },
      });
      assert.equal(approved.code, 200, messageOf(approved));
      const { status } = approved.object;
      assert.ok(status !== undefined && isJsonObject(status));
      assert.deepEqual(Object.keys(status), ["conditions"]);
      const denied = await api.merge(`${requests}/wanted/approval`, { status: {} });
      assert.equal(denied.code, 200);
      const taken = await api.merge(`${requests}/wanted/approval`, { status: { conditions: [] } });
      assert.equal(taken.code, 422);
    });

    it("through /resize only sizes change, and only some ways", async ({ api, namespace }) => {
      const pods = core(await namespace(), "pods");
      await api.create(pods, pod);
      const resize = (container: JsonObject): Promise<Reply> =>
        api.update(`${pods}/p/resize`, {
          ...pod,
          metadata: { name: "p", labels: { sneaked: "in" } },
          spec: { containers: [{ name: "c", image: "other", ...container }] },
        });
      const resized = await resize({ resources: { requests: { cpu: "2" } } });
      assert.equal(resized.code, 200, messageOf(resized));
      const { metadata, spec = {} } = resized.object as Record<string, JsonObject>;
      assert.equal(metadata?.["labels"], undefined);
      assert.equal(metadata?.["generation"], 2);
      const { containers } = spec as { readonly containers: readonly JsonObject[] };
      assert.deepEqual(
        containers.map(({ image, resources }) => [image, resources]),
        [["i", { requests: { cpu: "2" } }]],
      );
      const removed = await resize({});
      assert.equal(removed.code, 422);
      assert.match(messageOf(removed), /resource requests cannot be removed/);
    });

    it("containers to look into a pod are added and never changed", async ({ api, namespace }) => {
      const pods = core(await namespace(), "pods");
      await api.create(pods, pod);
      const debug = (image: string): Promise<Reply> =>
        api.merge(`${pods}/p/ephemeralcontainers`, {
          spec: { ephemeralContainers: [{ name: "debug", image }] },
        });
      assert.equal((await debug("one")).code, 200);
      const changed = await debug("two");
      assert.equal(changed.code, 422);
      assert.match(messageOf(changed), /existing ephemeral containers "debug" may not be changed/);
    });
  },
);
