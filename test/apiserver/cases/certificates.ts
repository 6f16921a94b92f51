// Who decides about certificates: the right to the request, and that to its signer.

import type { JsonObject } from "@keelson/base";

import { certificateRequest, mastersRequest } from "../../oracle/kinds/fixed-pem.ts";
import { casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { allowCluster } from "./rights.ts";

const group = "certificates.k8s.io";
const requests = `/apis/${group}/v1/certificatesigningrequests`;

const request = (name: string, signerName: string, pem = certificateRequest): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "CertificateSigningRequest",
  metadata: { name },
  spec: {
    request: Buffer.from(pem).toString("base64"),
    signerName,
    usages: ["client auth"],
  },
});

const condition = (type: string): JsonObject => ({
  status: { conditions: [{ type, status: "True", reason: "R", message: "m" }] },
});

/** A user of the case's own, who may write requests, and do with signers what is said. */
async function allowDeciding(
  lab: Lab,
  user: string,
  signers: { readonly verbs: readonly string[]; readonly resourceNames: readonly string[] },
): Promise<void> {
  const subject = { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user } as const;
  await allowCluster(lab, user, subject, [
    {
      apiGroups: [group],
      resources: [
        "certificatesigningrequests",
        "certificatesigningrequests/approval",
        "certificatesigningrequests/status",
        "clustertrustbundles",
      ],
      verbs: ["get", "create", "patch"],
    },
    { apiGroups: [group], resources: ["signers"], ...signers },
  ]);
}

const scripts: Record<string, Script> = {
  "approval by signer": async (lab) => {
    await allowDeciding(lab, "kate", {
      verbs: ["approve"],
      resourceNames: ["example.com/x", "example.org/*"],
    });
    const kate = await lab.as({ name: "kate" });
    for (const [name, signer] of [
      ["ours", "example.com/x"],
      ["theirs", "example.com/y"],
      ["domain", "example.org/y"],
    ] as const) {
      const path = `${requests}/${name}-${lab.id}`;
      await lab.create(requests, request(`${name}-${lab.id}`, signer));
      await kate.patch("merge", `${path}/approval`, { metadata: { labels: { a: "b" } } });
      await kate.patch("merge", `${path}/approval`, condition("Approved"));
      await kate.patch("merge", `${path}/status`, condition("Failed"));
      await lab.delete(path);
    }
  },
  "signing by signer": async (lab) => {
    await allowDeciding(lab, "liam", { verbs: ["sign"], resourceNames: ["example.com/x"] });
    const liam = await lab.as({ name: "liam" });
    for (const [name, signer] of [
      ["ours", "example.com/x"],
      ["theirs", "example.com/y"],
    ] as const) {
      const path = `${requests}/${name}-${lab.id}`;
      await lab.create(requests, request(`${name}-${lab.id}`, signer));
      await liam.patch("merge", `${path}/status`, { status: {} });
      await liam.patch("merge", `${path}/status`, { metadata: { labels: { a: "b" } } });
      await liam.patch("merge", `${path}/status`, condition("Failed"));
      await liam.patch("merge", `${path}/approval`, condition("Denied"));
      await lab.delete(path);
    }
  },
  "a request for everything": async (lab) => {
    for (const [name, signer, pem] of [
      ["masters", "kubernetes.io/kube-apiserver-client", mastersRequest],
      ["elsewhere", "example.com/x", mastersRequest],
      ["nobody", "kubernetes.io/kube-apiserver-client", certificateRequest],
    ] as const) {
      await lab.post(requests, request(`${name}-${lab.id}`, signer, pem));
      await lab.delete(`${requests}/${name}-${lab.id}`);
    }
  },
};

export const certificateCases = casesOf("certificates", scripts);
