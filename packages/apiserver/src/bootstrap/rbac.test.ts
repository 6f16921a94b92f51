import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { jsonEqual, silentLog, type JsonObject } from "@keelson/base";
import { failures } from "@keelson/kube";

import { RbacRules } from "../auth/rbac/rbac-rules.ts";
import { aggregatedRules } from "../auth/rbac/aggregation.ts";
import {
  bootstrapRbacObjects,
  ensureBootstrapRbac,
  type RbacKey,
  type RbacObjects,
} from "./rbac.ts";
import { reconcileBinding, reconcileRole } from "./rbac-reconcile.ts";

const about = { group: "rbac.authorization.k8s.io", resource: "roles" };

/** A store of the four kinds, with a hook before each write. */
function memory(before: (key: RbacKey) => void = () => undefined) {
  const objects = new Map<string, JsonObject>();
  const place = ({ kind, namespace, name }: RbacKey): string => `${kind}/${namespace}/${name}`;
  const writes: string[] = [];
  const port: RbacObjects = {
    find: async (key) => objects.get(place(key)),
    create: async (key, object) => {
      before(key);
      if (objects.has(place(key))) throw failures.alreadyExists(about, key.name);
      writes.push(`create ${place(key)}`);
      objects.set(place(key), object);
    },
    update: async (key, object) => {
      before(key);
      writes.push(`update ${place(key)}`);
      objects.set(place(key), object);
    },
    delete: async (key) => {
      writes.push(`delete ${place(key)} ${key.uid}`);
      objects.delete(place(key));
    },
  };
  return { objects, port, writes };
}

suite("bootstrap RBAC", () => {
  test("makes everything once, and nothing the second time", async (t) => {
    const { objects, port, writes } = memory();
    await ensureBootstrapRbac({ objects: port, log: silentLog }, t.signal);
    for (const place of [
      "ClusterRole//cluster-admin",
      "ClusterRole//admin",
      "ClusterRole//edit",
      "ClusterRole//view",
      "ClusterRole//system:discovery",
      "ClusterRole//system:basic-user",
      "ClusterRole//system:public-info-viewer",
      "ClusterRole//system:auth-delegator",
      "ClusterRole//system:service-account-issuer-discovery",
      "ClusterRole//system:kube-scheduler",
      "ClusterRole//system:kube-controller-manager",
      "ClusterRole//system:controller:deployment-controller",
      "ClusterRoleBinding//cluster-admin",
      "ClusterRoleBinding//system:discovery",
      "ClusterRoleBinding//system:kube-scheduler",
      "Role/kube-system/extension-apiserver-authentication-reader",
      "RoleBinding/kube-system/system::leader-locking-kube-scheduler",
    ]) {
      assert.ok(objects.has(place), place);
    }
    const count = writes.length;
    await ensureBootstrapRbac({ objects: port, log: silentLog }, t.signal);
    assert.equal(writes.length, count);
  });

  test("anonymous callers read health and version, and nothing else", async () => {
    const rules = new RbacRules();
    for (const object of await bootstrapRbacObjects()) {
      rules.set(object["kind"] as "Role", object);
    }
    const user = {
      name: "system:anonymous",
      uid: "",
      groups: ["system:unauthenticated"],
      extra: {},
    };
    const may = (path: string): boolean =>
      rules.authorize(user, { isResource: false, verb: "get", path }).isAllowed;
    assert.deepEqual(
      ["/healthz", "/livez", "/readyz", "/version", "/api", "/apis", "/metrics"].map(may),
      [true, true, true, true, false, false, false],
    );
  });

  test("admin, edit and view gather the rules that are meant for them", async () => {
    const objects = (await bootstrapRbacObjects()).filter(({ kind }) => kind === "ClusterRole");
    const roles = new Map(objects.map((role) => [(role["metadata"] as JsonObject)["name"], role]));
    for (let changes = 1; changes > 0;) {
      changes = 0;
      for (const [name, role] of roles) {
        const gathered = aggregatedRules(role, roles.values());
        if (gathered === undefined || jsonEqual([...gathered], role["rules"] ?? null)) continue;
        roles.set(name, { ...role, rules: [...gathered] });
        changes += 1;
      }
    }
    const rules = new RbacRules();
    for (const role of roles.values()) rules.set("ClusterRole", role);
    for (const name of ["admin", "edit", "view"]) {
      rules.set("RoleBinding", {
        metadata: { name, namespace: "shop" },
        roleRef: { kind: "ClusterRole", name },
        subjects: [{ kind: "User", name }],
      });
    }
    const may = (user: string, verb: string, resource: string, group = ""): boolean =>
      rules.authorize(
        { name: user, uid: "", groups: [], extra: {} },
        {
          isResource: true,
          verb,
          group,
          version: "v1",
          resource,
          subresource: "",
          namespace: "shop",
          name: "",
        },
      ).isAllowed;
    assert.deepEqual(
      ["admin", "edit", "view"].map((user) => [
        may(user, "list", "pods"),
        may(user, "create", "deployments", "apps"),
        may(user, "get", "secrets"),
        may(user, "create", "roles", about.group),
      ]),
      [
        [true, true, true, true],
        [true, true, true, false],
        [true, false, false, false],
      ],
    );
  });

  test("a role gets back what it lacks and keeps what was added; one that opts out stays", () => {
    const rule = (verb: string): JsonObject => ({
      verbs: [verb],
      apiGroups: [""],
      resources: ["pods"],
    });
    const expected: JsonObject = {
      metadata: { name: "r", labels: { a: "1" }, annotations: { b: "2" } },
      rules: [{ verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] }],
    };
    const existing: JsonObject = {
      metadata: { name: "r", uid: "u", labels: { a: "mine", c: "3" } },
      rules: [rule("get"), rule("delete")],
    };
    assert.deepEqual(reconcileRole(existing, expected), {
      action: "update",
      object: {
        metadata: { name: "r", uid: "u", labels: { a: "mine", c: "3" }, annotations: { b: "2" } },
        rules: [rule("get"), rule("delete"), rule("list")],
      },
    });
    const annotations = { "rbac.authorization.kubernetes.io/autoupdate": "false" };
    const kept = { ...existing, metadata: { name: "r", annotations } };
    assert.deepEqual(reconcileRole(kept, expected), { action: "none" });
    assert.deepEqual(reconcileRole(expected, expected), { action: "none" });
    const gathers = { ...expected, aggregationRule: { clusterRoleSelectors: [{}] } };
    assert.deepEqual(reconcileRole(gathers, expected), { action: "update", object: expected });
    assert.deepEqual(reconcileRole(expected, gathers), { action: "update", object: gathers });
  });

  test("a binding gets its subjects back; one to another role is made anew", async (t) => {
    const roleRef = { apiGroup: about.group, kind: "ClusterRole", name: "r" };
    const group = { kind: "Group", name: "g" };
    const mine = { kind: "User", name: "mine" };
    const expected: JsonObject = { metadata: { name: "b" }, roleRef, subjects: [group] };
    const existing: JsonObject = { metadata: { name: "b" }, roleRef, subjects: [mine] };
    assert.deepEqual(reconcileBinding(existing, expected), {
      action: "update",
      object: { ...existing, subjects: [mine, group] },
    });
    const { objects, port, writes } = memory();
    const place = "ClusterRoleBinding//cluster-admin";
    const other = { ...roleRef, name: "other" };
    objects.set(place, { metadata: { name: "cluster-admin", uid: "old" }, roleRef: other });
    await ensureBootstrapRbac({ objects: port, log: silentLog }, t.signal);
    assert.deepEqual(
      writes.filter((write) => write.includes(place)),
      [`delete ${place} old`, `create ${place}`],
    );
  });

  test("it tries again when another process was faster, and goes on when one fails", async (t) => {
    let turns = 0;
    const { objects, port } = memory(({ name }) => {
      if (name === "edit") throw new Error("disk");
      if (name === "view" && (turns += 1) < 3) throw failures.modifiedConflict(about, name);
    });
    await assert.rejects(
      ensureBootstrapRbac({ objects: port, log: silentLog }, t.signal),
      (error) => error instanceof AggregateError && error.errors.length === 1,
    );
    assert.ok(objects.has("ClusterRole//view"));
    assert.ok(!objects.has("ClusterRole//edit"));
  });
});
