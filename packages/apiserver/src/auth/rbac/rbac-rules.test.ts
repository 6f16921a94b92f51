import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import * as fc from "fast-check";

import type { Attributes, ResourceAttributes } from "../authorizer.ts";
import type { User } from "../user.ts";
import { firstSubjectOf, readBinding } from "./binding.ts";
import { readRules, ruleAllows } from "./policy-rule.ts";
import { RbacRules, type RbacKind } from "./rbac-rules.ts";

function user(name: string, ...groups: string[]): User {
  return { name, uid: "", groups, extra: {} };
}

function ask(verb: string, resource: string, more: Partial<ResourceAttributes> = {}): Attributes {
  const [plural = "", subresource = ""] = resource.split("/");
  return {
    isResource: true,
    verb,
    group: "",
    version: "v1",
    resource: plural,
    subresource,
    namespace: "",
    name: "",
    ...more,
  };
}

function role(name: string, rules: readonly JsonObject[], namespace = ""): JsonObject {
  return { metadata: { name, ...(namespace === "" ? {} : { namespace }) }, rules };
}

function binding(
  name: string,
  roleRef: string,
  subjects: readonly JsonObject[],
  namespace = "",
): JsonObject {
  const [kind = "", roleName = ""] = roleRef.split("/");
  return {
    metadata: { name, ...(namespace === "" ? {} : { namespace }) },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: roleName },
    subjects,
  };
}

function withObjects(objects: readonly (readonly [RbacKind, JsonObject])[]): RbacRules {
  const rules = new RbacRules();
  for (const [kind, object] of objects) rules.set(kind, object);
  return rules;
}

const reader = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods"] };

suite("RBAC", () => {
  test("the reason names the binding, the role and the first subject that is the user", () => {
    const rules = withObjects([
      ["ClusterRole", role("reader", [reader])],
      [
        "ClusterRoleBinding",
        binding("readers", "ClusterRole/reader", [
          { kind: "Group", name: "others" },
          { kind: "Group", name: "team" },
          { kind: "User", name: "ann" },
        ]),
      ],
      [
        "RoleBinding",
        binding("local", "ClusterRole/reader", [{ kind: "ServiceAccount", name: "bot" }], "shop"),
      ],
    ]);
    assert.deepEqual(rules.authorize(user("ann", "team"), ask("get", "pods")), {
      isAllowed: true,
      reason:
        'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to Group "team"',
    });
    const bot = user("system:serviceaccount:shop:bot");
    assert.deepEqual(rules.authorize(bot, ask("list", "pods", { namespace: "shop" })), {
      isAllowed: true,
      reason:
        'RBAC: allowed by RoleBinding "local/shop" of ClusterRole "reader" to ServiceAccount "bot/shop"',
    });
    const elsewhere = ask("list", "pods", { namespace: "home" });
    assert.deepEqual(rules.authorize(bot, elsewhere), { isAllowed: false, reason: "" });
  });

  test("a role that is missing is named in the refusal", () => {
    const ann = [{ kind: "User", name: "ann" }];
    const rules = withObjects([
      ["ClusterRoleBinding", binding("a", "ClusterRole/gone", ann)],
      ["RoleBinding", binding("b", "Role/lost", ann, "shop")],
    ]);
    assert.equal(
      rules.authorize(user("ann"), ask("get", "pods")).reason,
      'RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found',
    );
    assert.equal(
      rules.authorize(user("ann"), ask("get", "pods", { namespace: "shop" })).reason,
      'RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, role.rbac.authorization.k8s.io "lost" not found]',
    );
  });

  test("masters may do everything", () => {
    const masters = user("root", "system:masters");
    assert.equal(new RbacRules().authorize(masters, ask("eat", "cake")).isAllowed, true);
  });

  const cases: readonly (readonly [string, JsonObject, Attributes, boolean])[] = [
    ["a subresource is not its resource", reader, ask("get", "pods/log"), false],
    ["a named subresource", { ...reader, resources: ["pods/log"] }, ask("get", "pods/log"), true],
    ["any resource's scale", { ...reader, resources: ["*/scale"] }, ask("get", "a/scale"), true],
    ["no scale without one", { ...reader, resources: ["*/scale"] }, ask("get", "a"), false],
    ["pods/* is no pattern", { ...reader, resources: ["pods/*"] }, ask("get", "pods/log"), false],
    ["all resources", { ...reader, resources: ["*"] }, ask("get", "pods/log"), true],
    ["another group", reader, ask("get", "pods", { group: "apps" }), false],
    ["all groups", { ...reader, apiGroups: ["*"] }, ask("get", "pods", { group: "apps" }), true],
    ["all verbs", { ...reader, verbs: ["*"] }, ask("eat", "pods"), true],
    ["a name", { ...reader, resourceNames: ["a"] }, ask("get", "pods", { name: "a" }), true],
    ["no name", { ...reader, resourceNames: ["a"] }, ask("list", "pods"), false],
    ["a path", path("/version"), get("/version"), true],
    ["a path below", path("/version"), get("/version/"), false],
    ["a path with a star", path("/healthz/*"), get("/healthz/etcd"), true],
    ["a star needs its slash", path("/healthz/*"), get("/healthz"), false],
    ["a path in the middle of a word", path("/api*"), get("/apis"), true],
    ["all paths", path("*"), get("/anything"), true],
    ["a resource is no path", path("*"), ask("get", "pods"), false],
  ];
  for (const [name, rule, attributes, isAllowed] of cases) {
    test(`rules: ${name}`, () => {
      const rules = withObjects([
        ["ClusterRole", role("r", [rule])],
        ["ClusterRoleBinding", binding("b", "ClusterRole/r", [{ kind: "User", name: "ann" }])],
      ]);
      assert.equal(rules.authorize(user("ann"), attributes).isAllowed, isAllowed);
    });
  }

  test("after any changes it answers as if every binding and rule were tried in turn", () => {
    fc.assert(
      fc.property(
        fc.array(anyChange, { maxLength: 40 }),
        anyUser,
        anyAsk,
        (changes, who, asked) => {
          const rules = new RbacRules();
          const objects = new Map<string, readonly [RbacKind, JsonObject]>();
          for (const { kind, object, isDeleted } of changes) {
            const { name, namespace = "" } = object["metadata"] as {
              name: string;
              namespace?: string;
            };
            const place = `${kind}/${namespace}/${name}`;
            if (isDeleted) {
              objects.delete(place);
              rules.delete(kind, namespace, name);
            } else {
              objects.set(place, [kind, object]);
              rules.set(kind, object);
            }
          }
          const isAllowed = naive([...objects.values()], who, asked);
          assert.equal(rules.authorize(who, asked).isAllowed, isAllowed);
        },
      ),
    );
  });
});

/** RBAC as its description says it, without any index. */
function naive(
  objects: readonly (readonly [RbacKind, JsonObject])[],
  who: User,
  attributes: Attributes,
): boolean {
  const namespace = attributes.isResource ? attributes.namespace : "";
  return objects
    .filter(([kind]) => kind.endsWith("Binding"))
    .map(([, object]) => readBinding(object))
    .filter((one) => one.namespace === "" || one.namespace === namespace)
    .filter((one) => firstSubjectOf(one, who) !== undefined)
    .flatMap(({ roleRef, namespace: home }) =>
      objects
        .filter(([kind, object]) => {
          const metadata = object["metadata"] as { name: string; namespace?: string };
          if (kind !== roleRef.kind || metadata.name !== roleRef.name) return false;
          return kind === "ClusterRole" || metadata.namespace === home;
        })
        .flatMap(([, object]) => readRules(object)),
    )
    .some((rule) => ruleAllows(rule, attributes));
}

const some = (...texts: string[]) => fc.uniqueArray(fc.constantFrom(...texts), { minLength: 1 });
const namespaces = fc.constantFrom("", "x", "y");
const anyRule: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({
    verbs: some("get", "list", "*"),
    apiGroups: some("", "apps", "*"),
    resources: some("a", "b", "a/s", "*/s", "*"),
    resourceNames: fc.uniqueArray(fc.constantFrom("n", "m"), { maxLength: 1 }),
  }),
  fc.record({ verbs: some("get"), nonResourceURLs: some("/p", "/p/*", "*") }),
);
const anySubject: fc.Arbitrary<JsonObject> = fc.record({
  kind: fc.constantFrom("User", "Group", "ServiceAccount"),
  name: fc.constantFrom("u", "g", "s"),
  namespace: namespaces,
});
const anyChange = fc
  .record({
    kind: fc.constantFrom<RbacKind>("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"),
    name: fc.constantFrom("r", "q"),
    namespace: fc.constantFrom("x", "y"),
    rules: fc.array(anyRule, { maxLength: 3 }),
    refersTo: fc.constantFrom("Role/r", "ClusterRole/r", "ClusterRole/q"),
    subjects: fc.array(anySubject, { maxLength: 3 }),
    isDeleted: fc.boolean(),
  })
  .map(({ kind, name, namespace, rules, refersTo, subjects, isDeleted }) => {
    const home = kind.startsWith("Cluster") ? "" : namespace;
    const object = kind.endsWith("Binding")
      ? binding(name, refersTo, subjects, home)
      : role(name, rules, home);
    return { kind, object, isDeleted };
  });
const anyUser = fc
  .record({
    name: fc.constantFrom("u", "system:serviceaccount:x:s"),
    groups: fc.uniqueArray(fc.constantFrom("g", "h")),
  })
  .map(({ name, groups }) => user(name, ...groups));
const anyAsk: fc.Arbitrary<Attributes> = fc.oneof(
  fc
    .tuple(fc.constantFrom("get", "list"), fc.constantFrom("a", "b", "a/s", "b/s"), namespaces)
    .map(([verb, resource, namespace]) => ask(verb, resource, { namespace, name: "n" })),
  fc.constantFrom("/p", "/p/q").map(get),
);

function path(pattern: string): JsonObject {
  return { verbs: ["get"], nonResourceURLs: [pattern] };
}

function get(asked: string): Attributes {
  return { isResource: false, verb: "get", path: asked };
}
