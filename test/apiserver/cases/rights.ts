// Rights of somebody as preparation of a case.

import type { Json, JsonObject } from "@keelson/base";

import type { Lab } from "../lab.ts";

export const rbac = "rbac.authorization.k8s.io/v1";

export async function allow(lab: Lab, user: string, rules: Json): Promise<void> {
  await lab.create(lab.group(rbac, "roles"), {
    apiVersion: rbac,
    kind: "Role",
    metadata: { name: user },
    rules,
  });
  await lab.create(lab.group(rbac, "rolebindings"), {
    apiVersion: rbac,
    kind: "RoleBinding",
    metadata: { name: user },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: user },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
  });
}

export async function allowCluster(
  lab: Lab,
  name: string,
  subject: JsonObject,
  rules: Json,
): Promise<void> {
  await lab.create(`/apis/${rbac}/clusterroles`, {
    apiVersion: rbac,
    kind: "ClusterRole",
    metadata: { name: `${name}-${lab.id}` },
    rules,
  });
  await lab.create(`/apis/${rbac}/clusterrolebindings`, {
    apiVersion: rbac,
    kind: "ClusterRoleBinding",
    metadata: { name: `${name}-${lab.id}` },
    roleRef: {
      apiGroup: "rbac.authorization.k8s.io",
      kind: "ClusterRole",
      name: `${name}-${lab.id}`,
    },
    subjects: [subject],
  });
}
