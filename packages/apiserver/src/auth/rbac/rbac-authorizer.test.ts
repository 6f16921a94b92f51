import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemClock, systemRandom, TaskScope, type JsonObject } from "@keelson/base";
import { Body, SqliteBackend, Store } from "@keelson/store";

import { Mirror } from "../../mirror.ts";
import type { Attributes } from "../authorizer.ts";
import { RbacAuthorizer, rbacStoreKinds } from "./rbac-authorizer.ts";
import type { RbacKind } from "./rbac-rules.ts";

suite("the RBAC authoriser", () => {
  test("follows the store", async (t) => {
    const backend = new SqliteBackend({ path: ":memory:", clock: systemClock });
    await using store = await Store.open({ backend }, t.signal);
    await using scope = new TaskScope(t.signal);
    const mirrorOf = (kind: RbacKind): Mirror => {
      const mirror = new Mirror({
        store,
        clock: systemClock,
        random: systemRandom,
        log: silentLog,
        kind: rbacStoreKinds[kind],
      });
      scope.spawn(kind, (signal) => mirror.run(signal));
      return mirror;
    };
    const mirrors = {
      Role: mirrorOf("Role"),
      RoleBinding: mirrorOf("RoleBinding"),
      ClusterRole: mirrorOf("ClusterRole"),
      ClusterRoleBinding: mirrorOf("ClusterRoleBinding"),
    };
    const key = (kind: RbacKind, name: string) => ({
      kind: rbacStoreKinds[kind],
      namespace: "",
      name,
    });
    const put = async (kind: RbacKind, name: string, rest: JsonObject) => {
      const apiVersion = "rbac.authorization.k8s.io/v1";
      const object = { apiVersion, kind, metadata: { name, uid: `uid-${name}` }, ...rest };
      return await store.create(key(kind, name), Body.of(object), t.signal);
    };
    await put("ClusterRole", "reader", {
      rules: [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
    });
    await Promise.all(Object.values(mirrors).map(async (mirror) => await mirror.ready));
    using authorizer = new RbacAuthorizer(mirrors);
    const may = (): boolean => authorizer.authorize(ann, getPods).isAllowed;
    const changed = async (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      using _ = mirrors.ClusterRoleBinding.onChange(() => resolve());
      await promise;
    };

    assert.equal(may(), false);
    const bound = changed();
    await put("ClusterRoleBinding", "ann", {
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
      subjects: [{ kind: "User", name: "ann" }],
    });
    await bound;
    assert.equal(may(), true);
    const unbound = changed();
    await store.delete(key("ClusterRoleBinding", "ann"), {}, t.signal);
    await unbound;
    assert.equal(may(), false);
  });
});

const ann = { name: "ann", uid: "", groups: [], extra: {} };
const getPods: Attributes = {
  isResource: true,
  verb: "get",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "shop",
  name: "a",
};
