// The namespace of a preview: what it lets in and out, and how much may run in it.

import type { DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { childOf, environmentLabel, labelsOf } from "../children/child.ts";
import { ownerKey, ownerText } from "../ownership/owner.ts";

export interface PreviewSettings {
  /** Where the ingress controller runs: whoever comes from outside comes from there. */
  readonly ingressNamespace: string;
  /** What the pods of one preview may take together. */
  readonly quotaCpu: string;
  readonly quotaMemory: string;
}

/**
 * Room for the pods of two replicas, for the one that a rollout makes beside them, and for the one that it is taking
 * away or that migrates the database.
 */
export const usualPreviewSettings: PreviewSettings = {
  ingressNamespace: "ingress-nginx",
  quotaCpu: "5",
  quotaMemory: "3Gi",
};

const podSecurity = "pod-security.kubernetes.io";

/** Needs the app of a preview. It carries its owner, as everything does that is made outside the owner's namespace. */
export function namespaceOf(app: App): DynamicObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      name: app.namespace,
      labels: {
        ...labelsOf(app),
        [`${podSecurity}/enforce`]: "restricted",
        [`${podSecurity}/audit`]: "restricted",
        [`${podSecurity}/warn`]: "restricted",
      },
      annotations: { [ownerKey]: ownerText(app.owner) },
    },
  };
}

/** What stands in the namespace before anything runs there. */
export function guardsOf(app: App, settings: PreviewSettings): DynamicObject[] {
  return [quotaOf(app, settings), networkPolicyOf(app, settings)];
}

/** By limits: requests are never above them. */
function quotaOf(app: App, { quotaCpu, quotaMemory }: PreviewSettings): DynamicObject {
  return childOf(app, {
    apiVersion: "v1",
    kind: "ResourceQuota",
    name: app.names.name,
    content: { spec: { hard: { "limits.cpu": quotaCpu, "limits.memory": quotaMemory } } },
  });
}

/**
 * In from the ingress controller and from the preview itself; out to everywhere but other previews. Some networks count
 * pods among the addresses of a block, so that a preview would reach others by the last rule; these do not let it in.
 */
function networkPolicyOf(app: App, { ingressNamespace }: PreviewSettings): DynamicObject {
  const own = { podSelector: {} };
  const name = { "kubernetes.io/metadata.name": ingressNamespace };
  const noPreview = { key: environmentLabel, operator: "NotIn", values: ["preview"] };
  return childOf(app, {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    name: app.names.name,
    content: {
      spec: {
        podSelector: {},
        policyTypes: ["Ingress", "Egress"],
        ingress: [{ from: [{ namespaceSelector: { matchLabels: name } }, own] }],
        egress: [
          {
            to: [
              { namespaceSelector: { matchExpressions: [noPreview] } },
              own,
              { ipBlock: { cidr: "0.0.0.0/0" } },
              { ipBlock: { cidr: "::/0" } },
            ],
          },
        ],
      },
    },
  });
}
