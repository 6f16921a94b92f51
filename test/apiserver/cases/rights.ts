// Rights of somebody as preparation of a case.

import type { JsonObject } from "@keelson/base";

import { until } from "../../tools/until.ts";
import type { Lab } from "../lab.ts";

export const rbac = "rbac.authorization.k8s.io/v1";

type Rules = readonly JsonObject[];

export async function allow(lab: Lab, user: string, rules: Rules): Promise<void> {
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
  await untilAllowed(lab, { user }, { namespace: lab.ns, ...firstOf(rules) });
}

export async function allowCluster(
  lab: Lab,
  name: string,
  subject: { readonly kind: "Group" | "User"; readonly apiGroup: string; readonly name: string },
  rules: Rules,
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
    subjects: [{ ...subject }],
  });
  const { kind, name: who } = subject;
  await untilAllowed(lab, kind === "Group" ? { groups: [who] } : { user: who }, firstOf(rules));
}

/** Servers hear of roles and bindings by a watch, so a moment after they were made. */
async function untilAllowed(
  lab: Lab,
  who: JsonObject,
  resourceAttributes: JsonObject,
): Promise<void> {
  const review = {
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SubjectAccessReview",
      spec: { ...who, resourceAttributes },
    },
  } as const;
  const isAllowed = async (): Promise<boolean> => {
    const { body } = await lab.must(review);
    return (body as { status: { allowed: boolean } }).status.allowed;
  };
  await until(isAllowed, lab.signal, "rights to count");
}

/** Something that the first rule allows; the others count from the same moment. */
function firstOf(rules: Rules): JsonObject {
  const { apiGroups, resources, verbs, resourceNames } = rules[0] as Record<string, string[]>;
  const [[group = ""] = [], [resource = ""] = []] = [apiGroups, resources];
  const [[verb = ""] = [], [name = ""] = []] = [verbs, resourceNames];
  return { group, resource, verb, name };
}
