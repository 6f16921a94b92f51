import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";

import type { Authenticator } from "../auth/authenticator.ts";
import { createKey } from "../auth/pki/certificate.ts";
import { loadX509 } from "../auth/pki/x509.ts";
import { mastersGroup } from "../auth/user.ts";
import { Api, messageOf, type Reply } from "../testing/api.ts";
import { root } from "../testing/authorities.ts";
import { startTestServer } from "../testing/test-server.ts";

const requests = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const bundles = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

/** Whoever says a name is called so; everybody else is the administrator. */
const byName: Authenticator = {
  authenticate: ({ authorization }) => ({
    user:
      authorization === undefined
        ? { name: "admin", uid: "", groups: [mastersGroup], extra: {} }
        : { name: authorization, uid: "", groups: [], extra: {} },
  }),
};

async function request(
  name: string,
  { signer = "example.com/x", subject = "CN=someone" } = {},
): Promise<JsonObject> {
  const x509 = await loadX509();
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const key = createKey();
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subject,
    signingAlgorithm: algorithm,
    keys: {
      privateKey: createPrivateKey(key).toCryptoKey(algorithm, true, ["sign"]),
      publicKey: createPublicKey(key).toCryptoKey(algorithm, true, ["verify"]),
    },
  });
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: Buffer.from(made.toString("pem")).toString("base64"),
      signerName: signer,
      usages: ["client auth"],
    },
  };
}

/** A user who may write what is about certificates, and on signers only as told. */
async function prepare(signal: AbortSignal, rule: { verb: string; names: readonly string[] }) {
  const server = await startTestServer({ authenticator: byName }, signal);
  const admin = new Api(server.url, signal);
  const rules = [
    {
      apiGroups: ["certificates.k8s.io"],
      resources: [
        "certificatesigningrequests",
        "certificatesigningrequests/approval",
        "certificatesigningrequests/status",
        "clustertrustbundles",
      ],
      verbs: ["create", "get", "patch"],
    },
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["signers"],
      resourceNames: rule.names,
      verbs: [rule.verb],
    },
  ];
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "signing" };
  await admin.create(`${rbac}/clusterroles`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "signing" },
    rules,
  });
  await admin.create(`${rbac}/clusterrolebindings`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRoleBinding",
    metadata: { name: "signing" },
    roleRef,
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "alice" }],
  });
  const asAlice = { authorization: "alice" };
  const isKnown = async (): Promise<boolean> =>
    (await admin.send("GET", `${requests}/none`, { headers: asAlice })).code === 404;
  await until(isKnown, "alice to have her rights");
  const headers = { ...asAlice, "content-type": "application/merge-patch+json" };
  return {
    admin,
    create: (body: JsonObject, path = requests): Promise<Reply> =>
      admin.send("POST", path, { body, headers: asAlice }),
    merge: (path: string, body: JsonObject): Promise<Reply> =>
      admin.send("PATCH", `${requests}/${path}`, { body, headers }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function decided(type: string): JsonObject {
  return { status: { conditions: [{ type, status: "True", reason: "R", message: "m" }] } };
}

suite("certificates that are asked for", () => {
  for (const allowed of ["example.com/x", "example.com/*"]) {
    test(`are approved by who may approve for ${allowed}, and for no other signer`, async (t) => {
      await using bed = await prepare(t.signal, { verb: "approve", names: [allowed] });
      await bed.create(await request("ours"));
      await bed.create(await request("foreign", { signer: "example.org/x" }));
      const approved = decided("Approved");
      assert.equal((await bed.merge("ours/approval", approved)).code, 200);
      const refused = await bed.merge("foreign/approval", approved);
      assert.equal(refused.code, 403);
      assert.equal(
        messageOf(refused),
        'certificatesigningrequests.certificates.k8s.io "foreign" is forbidden: user not permitted to approve requests with signerName "example.org/x"',
      );
      const path = `${requests}/foreign/approval`;
      assert.equal((await bed.admin.merge(path, approved)).code, 200);
    });
  }

  test("are signed, or given up, by who may sign for their signer", async (t) => {
    await using bed = await prepare(t.signal, { verb: "sign", names: ["example.com/x"] });
    await bed.create(await request("ours"));
    await bed.create(await request("foreign", { signer: "example.com/y" }));
    assert.equal((await bed.merge("ours/status", decided("Failed"))).code, 200);
    const refused = await bed.merge("foreign/status", decided("Failed"));
    assert.equal(refused.code, 403);
    assert.match(
      messageOf(refused),
      /not permitted to sign requests with signerName "example.com\/y"$/,
    );
    // What says nothing new is nobody's decision.
    assert.equal((await bed.merge("foreign/status", { status: {} })).code, 200);
    assert.equal((await bed.merge("foreign/approval", decided("Denied"))).code, 403);
  });

  test("make nobody a member of system:masters", async (t) => {
    await using bed = await prepare(t.signal, { verb: "approve", names: ["example.com/x"] });
    const signer = "kubernetes.io/kube-apiserver-client";
    const subject = "CN=someone,O=others,O=system:masters";
    const refused = await bed.admin.create(requests, await request("root", { signer, subject }));
    assert.equal(refused.code, 403);
    assert.equal(
      messageOf(refused),
      'certificatesigningrequests.certificates.k8s.io "root" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    );
    const others = await request("others", { signer, subject: "CN=someone,O=others" });
    assert.equal((await bed.admin.create(requests, others)).code, 201);
    assert.equal((await bed.admin.create(requests, await request("x", { subject }))).code, 201);
  });
});

test("a bundle of certificates is vouched for by who may attest for its signer", async (t) => {
  await using bed = await prepare(t.signal, { verb: "attest", names: ["example.com/x"] });
  const { certificate } = await root("authority");
  const bundle = (name: string, signerName?: string): JsonObject => ({
    apiVersion: "certificates.k8s.io/v1beta1",
    kind: "ClusterTrustBundle",
    metadata: { name },
    spec: { ...(signerName === undefined ? {} : { signerName }), trustBundle: certificate },
  });
  const create = (body: JsonObject): Promise<Reply> => bed.create(body, bundles);
  assert.equal((await create(bundle("example.com:x:a", "example.com/x"))).code, 201);
  assert.equal((await create(bundle("of-nobody"))).code, 201);
  const refused = await create(bundle("example.com:y:a", "example.com/y"));
  assert.equal(refused.code, 403);
  assert.match(messageOf(refused), /not permitted to attest for signerName "example.com\/y"$/);
});
