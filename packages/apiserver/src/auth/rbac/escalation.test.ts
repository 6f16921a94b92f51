import assert from "node:assert/strict";
import { suite, test } from "node:test";

import type { JsonObject } from "@keelson/base";
import { StatusError } from "@keelson/kube";

import type { ResourceAttributes } from "../authorizer.ts";
import type { User } from "../user.ts";
import { aggregatedRules } from "./aggregation.ts";
import { checkEscalation } from "./escalation.ts";
import { RbacRules } from "./rbac-rules.ts";

const ann: User = { name: "ann", uid: "", groups: ["team", "system:authenticated"], extra: {} };
const apiGroup = "rbac.authorization.k8s.io";

function request(resource: string, namespace = "", name = ""): ResourceAttributes {
  return {
    isResource: true,
    verb: "create",
    group: apiGroup,
    version: "v1",
    resource,
    subresource: "",
    namespace,
    name,
  };
}

/** Ann reads pods everywhere, and may do to secrets in `shop` what `extra` says. */
function rulesWith(extra: readonly JsonObject[] = []): RbacRules {
  const rules = new RbacRules();
  const held = [
    { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "*/status"] },
    ...extra,
  ];
  rules.set("ClusterRole", { metadata: { name: "held" }, rules: held });
  rules.set("ClusterRole", {
    metadata: { name: "secrets" },
    rules: [{ verbs: ["get", "watch"], apiGroups: [""], resources: ["secrets"] }],
  });
  rules.set("ClusterRoleBinding", {
    metadata: { name: "ann" },
    roleRef: { apiGroup, kind: "ClusterRole", name: "held" },
    subjects: [{ kind: "User", name: "ann" }],
  });
  return rules;
}

async function refusal(
  check: { attributes: ResourceAttributes; object: JsonObject; old?: JsonObject; user?: User },
  rules: RbacRules,
  signal: AbortSignal,
): Promise<string> {
  const authorizer = { authorize: rules.authorize.bind(rules) };
  const { attributes, object, old, user = ann } = check;
  try {
    await checkEscalation({ user, attributes, object, old }, { rules, authorizer }, signal);
    return "";
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return `${error.status.code} ${error.message}`;
  }
}

function roleOf(name: string, ...rules: JsonObject[]): JsonObject {
  return { metadata: { name, resourceVersion: "1" }, rules };
}

function bindingTo(name: string, kind = "ClusterRole"): JsonObject {
  return { metadata: { name: "b" }, roleRef: { apiGroup, kind, name }, subjects: [] };
}

suite("escalation", () => {
  test("what is held may be given, in any split", async (t) => {
    const object = roleOf("r", {
      verbs: ["list"],
      apiGroups: [""],
      resources: ["pods", "x/status"],
    });
    const attributes = request("clusterroles");
    assert.equal(await refusal({ attributes, object }, rulesWith(), t.signal), "");
  });

  test("what is not held is listed, verbs of a resource together", async (t) => {
    const object = roleOf(
      "r",
      { verbs: ["get", "delete"], apiGroups: ["", "apps"], resources: ["pods"] },
      { verbs: ["update"], apiGroups: [""], resources: ["pods"], resourceNames: ["a", "b"] },
      { verbs: ["get"], nonResourceURLs: ["/x", "/y"] },
    );
    const attributes = request("roles", "shop");
    assert.equal(
      await refusal({ attributes, object }, rulesWith(), t.signal),
      [
        '403 roles.rbac.authorization.k8s.io "r" is forbidden: user "ann" (groups=["team" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["update"]}',
        '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["update"]}',
        '{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "delete"]}',
        '{NonResourceURLs:["/x"], Verbs:["get"]}',
        '{NonResourceURLs:["/y"], Verbs:["get"]}',
      ].join("\n"),
    );
  });

  test("a role that is missing is told with the refusal", async (t) => {
    const rules = rulesWith();
    rules.set("ClusterRoleBinding", {
      metadata: { name: "lost" },
      roleRef: { apiGroup, kind: "ClusterRole", name: "gone" },
      subjects: [{ kind: "Group", name: "team" }],
    });
    const object = roleOf("r", { verbs: ["get"], apiGroups: [""], resources: ["secrets"] });
    const text = await refusal({ attributes: request("clusterroles"), object }, rules, t.signal);
    assert.match(
      text,
      /; resolution errors: \[clusterroles\.rbac\.authorization\.k8s\.io "gone" not found\]$/,
    );
  });

  test("who may escalate, may; and masters always", async (t) => {
    const object = roleOf("r", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
    const attributes = request("clusterroles");
    const escalate = { verbs: ["escalate"], apiGroups: [apiGroup], resources: ["clusterroles"] };
    assert.equal(await refusal({ attributes, object }, rulesWith([escalate]), t.signal), "");
    const user = { ...ann, groups: ["system:masters"] };
    assert.equal(await refusal({ attributes, object, user }, rulesWith(), t.signal), "");
  });

  test("gathering rules needs the rights to everything", async (t) => {
    const aggregated = { ...roleOf("r"), aggregationRule: { clusterRoleSelectors: [{}] } };
    const attributes = request("clusterroles");
    const expected =
      '403 clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule';
    assert.equal(
      await refusal({ attributes, object: aggregated }, rulesWith(), t.signal),
      expected,
    );
    const change = { attributes, object: roleOf("r"), old: aggregated };
    assert.equal(await refusal(change, rulesWith(), t.signal), expected);
  });

  test("the garbage collector's fields may change whatever the rules say", async (t) => {
    const old = roleOf("r", { verbs: ["*"], apiGroups: ["*"], resources: ["*"] });
    const metadata = { name: "r", resourceVersion: "1", finalizers: ["a/b"] };
    const attributes = request("clusterroles", "", "r");
    const object = { ...old, metadata };
    assert.equal(await refusal({ attributes, object, old }, rulesWith(), t.signal), "");
    const relabelled = { ...old, metadata: { ...metadata, labels: { a: "b" } } };
    assert.match(
      await refusal({ attributes, object: relabelled, old }, rulesWith(), t.signal),
      /^403 /,
    );
  });

  test("a binding gives what its role has", async (t) => {
    const attributes = request("rolebindings", "shop");
    const toSecrets = { attributes, object: bindingTo("secrets") };
    assert.equal(
      await refusal(toSecrets, rulesWith(), t.signal),
      [
        '403 rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "ann" (groups=["team" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:',
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "watch"]}',
      ].join("\n"),
    );
    assert.equal(
      await refusal({ attributes, object: bindingTo("held") }, rulesWith(), t.signal),
      "",
    );
    assert.equal(
      await refusal({ attributes, object: bindingTo("gone") }, rulesWith(), t.signal),
      '404 rolebindings.rbac.authorization.k8s.io "gone" not found',
    );
    const bind = {
      verbs: ["bind"],
      apiGroups: ["*"],
      resources: ["clusterroles"],
      resourceNames: ["secrets"],
    };
    assert.equal(await refusal(toSecrets, rulesWith([bind]), t.signal), "");
  });

  test("an aggregated role has the rules of the roles it selects, each once, in the order of names", () => {
    const labelled = (name: string, ...verbs: string[]): JsonObject => ({
      metadata: { name, labels: { to: "view" } },
      rules: verbs.map((verb) => ({ verbs: [verb], resources: ["pods"], apiGroups: [""] })),
    });
    const view: JsonObject = {
      metadata: { name: "view", labels: { to: "view" } },
      rules: [{ verbs: ["*"], resources: ["*"], apiGroups: ["*"] }],
      aggregationRule: {
        clusterRoleSelectors: [{ matchLabels: { to: "view" } }, { matchLabels: { to: "none" } }],
      },
    };
    const all = [labelled("z", "get", "list"), view, labelled("a", "watch", "get")];
    assert.deepEqual(
      aggregatedRules(view, all)?.map(({ verbs }) => verbs),
      [["watch"], ["get"], ["list"]],
    );
    assert.equal(aggregatedRules(roleOf("plain"), all), undefined);
  });
});
