// RBAC over the roles and bindings in the store.

import type { Mirror } from "../../mirror.ts";
import type { Attributes, Authorizer, Decision } from "../authorizer.ts";
import type { User } from "../user.ts";
import { RbacRules, type RbacKind } from "./rbac-rules.ts";

/** The store's names of the kinds that RBAC reads; a mirror of each is needed. */
export const rbacStoreKinds: Readonly<Record<RbacKind, string>> = {
  Role: "Role.rbac.authorization.k8s.io",
  RoleBinding: "RoleBinding.rbac.authorization.k8s.io",
  ClusterRole: "ClusterRole.rbac.authorization.k8s.io",
  ClusterRoleBinding: "ClusterRoleBinding.rbac.authorization.k8s.io",
};

export type RbacMirrors = Readonly<Record<RbacKind, Pick<Mirror, "values" | "onChange">>>;

/** Judges at once, by what the mirrors show; disposing of it stops it from following them. */
export class RbacAuthorizer implements Authorizer, Disposable {
  readonly rules = new RbacRules();
  readonly #following = new DisposableStack();

  constructor(mirrors: RbacMirrors) {
    for (const kind of Object.keys(rbacStoreKinds) as RbacKind[]) this.#follow(kind, mirrors[kind]);
  }

  authorize(user: User, attributes: Attributes): Decision {
    return this.rules.authorize(user, attributes);
  }

  [Symbol.dispose](): void {
    this.#following.dispose();
  }

  #follow(kind: RbacKind, mirror: Pick<Mirror, "values" | "onChange">): void {
    for (const { object } of mirror.values()) this.rules.set(kind, object);
    this.#following.use(
      mirror.onChange((change) => {
        if (change.type === "set") {
          this.rules.set(kind, change.entry.object);
        } else {
          const { namespace, name } = change.previous.key;
          this.rules.delete(kind, namespace, name);
        }
      }),
    );
  }
}
