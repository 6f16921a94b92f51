// Everything that is answered by something else than the usual verbs.

import type { Clock } from "@keelson/base";
import type { BuiltinKinds } from "@keelson/kube";

import type { Identity } from "../apiserver.ts";
import type { BoundObjects } from "../auth/bound-objects.ts";
import type { RbacAuthorizer } from "../auth/rbac/rbac-authorizer.ts";
import type { Answerers } from "../resource-dispatch.ts";
import type { Registry } from "../resources/registry.ts";
import { componentStatuses } from "../verbs/component-statuses.ts";
import { reviewVerb } from "../verbs/review.ts";
import { binding, legacyBinding } from "./binding.ts";
import { once } from "../resources/once.ts";
import { bodyFields, bodyKind } from "./body.ts";
import { eviction } from "./eviction.ts";
import { scale } from "./scale.ts";
import { token } from "./token.ts";

export function specialAnswerers({
  kinds,
  registry,
  authorizer,
  identity,
  boundObjects,
  clock,
}: {
  readonly kinds: BuiltinKinds;
  readonly registry: Registry;
  readonly authorizer: RbacAuthorizer;
  readonly identity: Identity;
  readonly boundObjects: BoundObjects;
  readonly clock: Clock;
}): {
  readonly answerers: ReadonlyMap<string, Answerers>;
  readonly virtual: ReadonlyMap<string, Answerers>;
} {
  const { serviceAccounts, tokens = serviceAccounts } = identity;
  const create = reviewVerb({
    authorizer,
    rules: authorizer.rules,
    tokens: tokens ?? { authenticateToken: () => undefined },
    audiences: serviceAccounts?.audiences ?? [],
    clock,
  });
  const bindingKind = bodyKind(kinds, { group: "", version: "v1", kind: "Binding" });
  const evict = bodyKind(kinds, { group: "policy", version: "v1", kind: "Eviction" });
  return {
    answerers: new Map([
      ["*/scale", scale],
      ["pods/binding", binding(bindingKind)],
      ["pods/eviction", eviction(registry, evict)],
      [
        "serviceaccounts/token",
        token(serviceAccounts, boundObjects, {
          ...bodyKind(kinds, tokenRequest),
          fields: once(() => bodyFields(kinds, tokenRequest, "token")),
        }),
      ],
    ]),
    virtual: new Map<string, Answerers>([
      ["/bindings", legacyBinding(registry, bindingKind)],
      ["/componentstatuses", componentStatuses],
      ["authentication.k8s.io/tokenreviews", { create }],
      ["authentication.k8s.io/selfsubjectreviews", { create }],
      ["authorization.k8s.io/subjectaccessreviews", { create }],
      ["authorization.k8s.io/localsubjectaccessreviews", { create }],
      ["authorization.k8s.io/selfsubjectaccessreviews", { create }],
      ["authorization.k8s.io/selfsubjectrulesreviews", { create }],
    ]),
  };
}

const tokenRequest = { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" };
