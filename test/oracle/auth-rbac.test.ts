// Who may do what, by random roles and bindings: the oracle's access reviews and refusals beside our rules.

import assert from "node:assert/strict";
import { suite } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import {
  isJsonArray,
  isJsonObject,
  seededRandom,
  systemClock,
  type Json,
  type JsonObject,
  type Random,
} from "@keelson/base";
import { StatusError } from "@keelson/kube";

import type {
  Attributes,
  ResourceAttributes,
} from "../../packages/apiserver/src/auth/authorizer.ts";
import { checkEscalation } from "../../packages/apiserver/src/auth/rbac/escalation.ts";
import { RbacRules, type RbacKind } from "../../packages/apiserver/src/auth/rbac/rbac-rules.ts";
import { answerReview } from "../../packages/apiserver/src/auth/reviews/reviews.ts";
import type { User } from "../../packages/apiserver/src/auth/user.ts";
import { Laboratory, oracleTest, runTrials, trialSettings } from "./differential.ts";

const group = "rbac.authorization.k8s.io";
const kinds: readonly (readonly [RbacKind, string])[] = [
  ["ClusterRole", "clusterroles"],
  ["ClusterRoleBinding", "clusterrolebindings"],
  ["Role", "roles"],
  ["RoleBinding", "rolebindings"],
];

suite("RBAC beside the oracle", () => {
  oracleTest("access reviews are answered alike", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 3 }, t.signal);
    const { seed, count, only } = trialSettings(400);
    const random = seededRandom(`${seed}/objects`);
    for (let i = 0; i < 80; i++) await createAny(laboratory, random, t.signal);
    const objects = await readAll(laboratory, t.signal);
    await waitForSentinel(laboratory, t.signal);
    const rules = rulesOf(objects);

    for (const name of ["u", "v", "system:serviceaccount:lab-0:u"]) {
      const user: User = { name, uid: "", groups: ["w", "system:authenticated"], extra: {} };
      const answer = await laboratory.oracle.client.send(
        {
          method: "POST",
          path: "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
          headers: { "impersonate-user": name, "impersonate-group": "w" },
          body: {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SelfSubjectRulesReview",
            spec: { namespace: "lab-0" },
          },
        },
        t.signal,
      );
      const object = { spec: { namespace: "lab-0" } };
      const dependencies = {
        authorizer: { authorize: rules.authorize.bind(rules) },
        rules,
        tokens: { authenticateToken: () => undefined },
        audiences: [],
        clock: systemClock,
      };
      const answered = await answerReview(
        "SelfSubjectRulesReview",
        { object, user, namespace: "" },
        dependencies,
        t.signal,
      );
      assert.deepEqual(inAnyOrder(answered), inAnyOrder(answer.body as JsonObject), name);
    }

    const report = await runTrials(
      { title: "access reviews", seed, count, only },
      async (random, _, signal) => {
        const user = anyUser(random);
        const asked = anyQuestion(random, laboratory.namespaces);
        const spec = { user: user.name, groups: user.groups, ...specOf(asked) };
        const answer = await laboratory.must(
          {
            method: "POST",
            path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
            body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec },
          },
          signal,
        );
        const status = memberAt(answer, "status");
        const { isAllowed, reason } = rules.authorize(user, asked);
        const ours = { allowed: isAllowed, ...(reason === "" ? {} : { reason }) };
        // Where several bindings allow it, the oracle names any.
        const isOther = isAllowed && memberAt(answer, "status")["allowed"] === true;
        const names = isOther ? reasonsOf(objects, user, asked) : [];
        const isPossible = names.some((name) => name === status["reason"]);
        return {
          kind: asked.isResource ? "resource" : "path",
          operation: "review",
          accepted: isAllowed,
          oracle: sorted(status),
          ours: isPossible ? sorted({ ...ours, reason: status["reason"] ?? "" }) : sorted(ours),
          context: { user, asked, names },
        };
      },
      t.signal,
    );
    t.diagnostic(report.toString());
    report.assertExplained();
  });

  oracleTest("what somebody may not hand out is refused in the same words", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 2 }, t.signal);
    const { seed, count, only } = trialSettings(200);
    const identity = await laboratory.oracle.issue({ name: "ann", groups: ["team"] });
    using ann = laboratory.oracle.connectAs(identity);
    const user: User = {
      name: "ann",
      uid: "",
      groups: ["team", "system:authenticated"],
      extra: {},
    };
    await prepareAnn(laboratory, t.signal);
    const objects = await readAll(laboratory, t.signal);
    await waitForSentinel(laboratory, t.signal);
    const rules = rulesOf(objects);
    const authorizer = { authorize: rules.authorize.bind(rules) };

    const report = await runTrials(
      { title: "escalation", seed, count, only },
      async (random, index, signal) => {
        const [kind, plural] = random.pick(kinds);
        const isUpdate = random.integer(3) === 0;
        const place = isUpdate ? "lab-0" : random.pick(laboratory.namespaces);
        const namespace = kind.startsWith("Cluster") ? "" : place;
        const base = isUpdate ? objects.find((one) => isBase(one, kind))?.[1] : undefined;
        const old = base === undefined ? undefined : { ...typeOf(kind), ...base };
        const object =
          old === undefined ? anyGrant(random, kind, `x-${index}`) : anyChange(random, kind, old);
        const name = old === undefined ? "" : "base";
        const at = namespace === "" ? plural : `namespaces/${namespace}/${plural}`;
        const answer = await ann.send(
          {
            method: old === undefined ? "POST" : "PUT",
            path: `/apis/${group}/v1/${at}${name === "" ? "" : `/${name}`}?dryRun=All`,
            body: object,
          },
          signal,
        );
        const attributes: ResourceAttributes = {
          isResource: true,
          verb: old === undefined ? "create" : "update",
          group,
          version: "v1",
          resource: plural,
          subresource: "",
          namespace,
          name,
        };
        let ours: Json = { code: 201 };
        try {
          await checkEscalation({ user, attributes, object, old }, { rules, authorizer }, signal);
        } catch (error) {
          if (!(error instanceof StatusError)) throw error;
          ours = JSON.parse(JSON.stringify(error.status)) as Json;
        }
        const accepted = answer.status < 300;
        return {
          kind,
          operation: attributes.verb,
          accepted,
          oracle: accepted ? { code: 201 } : (answer.body as Json),
          ours,
          context: object,
        };
      },
      t.signal,
    );
    t.diagnostic(report.toString());
    report.assertExplained();
  });
});

async function createAny(
  laboratory: Laboratory,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  const [kind, plural] = random.pick(kinds);
  const namespace = kind.startsWith("Cluster") ? "" : random.pick(laboratory.namespaces);
  const name = random.pick(["a", "b", "c", "d", "e", "f"]);
  const at = namespace === "" ? plural : `namespaces/${namespace}/${plural}`;
  const body = kind.endsWith("Binding")
    ? anyBinding(random, kind, `x-${name}`)
    : {
        metadata: { name: `x-${name}` },
        rules: some(random, 1, 3).map(() => anyRule(random, kind)),
      };
  const answer = await laboratory.send(
    { method: "POST", path: `/apis/${group}/v1/${at}`, body: { ...typeOf(kind), ...body } },
    signal,
  );
  if (!answer.isAccepted && answer.status !== 409) throw new Error(answer.text);
}

/** What Ann holds: she may write roles and bindings, and has a few rights; one of her bindings leads nowhere. */
async function prepareAnn(laboratory: Laboratory, signal: AbortSignal): Promise<void> {
  const put = async (plural: string, kind: RbacKind, body: JsonObject): Promise<void> => {
    const path = `/apis/${group}/v1/${plural}`;
    await laboratory.must({ method: "POST", path, body: { ...typeOf(kind), ...body } }, signal);
  };
  await put("clusterroles", "ClusterRole", {
    metadata: { name: "ann" },
    rules: [
      { verbs: ["create", "update"], apiGroups: [group], resources: ["*"] },
      { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "*/scale"] },
      { verbs: ["*"], apiGroups: ["apps"], resources: ["deployments"], resourceNames: ["n"] },
      { verbs: ["get"], nonResourceURLs: ["/a/*"] },
      { verbs: ["bind"], apiGroups: [group], resources: ["clusterroles"], resourceNames: ["view"] },
      { verbs: ["escalate"], apiGroups: [group], resources: ["roles"], resourceNames: ["any"] },
    ],
  });
  // What she may change, though she does not hold what it gives.
  const rules = [{ verbs: ["delete"], apiGroups: ["batch"], resources: ["jobs"] }];
  const roleRef = { apiGroup: group, kind: "ClusterRole", name: "base" };
  const metadata = { name: "base" };
  await put("clusterroles", "ClusterRole", { metadata, rules });
  await put("clusterrolebindings", "ClusterRoleBinding", { metadata, roleRef, subjects: [] });
  await put("namespaces/lab-0/roles", "Role", { metadata, rules });
  await put("namespaces/lab-0/rolebindings", "RoleBinding", { metadata, roleRef, subjects: [] });
  for (const [name, roleName] of [
    ["ann", "ann"],
    ["ann-lost", "gone"],
  ] as const) {
    await put("clusterrolebindings", "ClusterRoleBinding", {
      metadata: { name },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: roleName },
      subjects: [{ apiGroup: group, kind: "User", name: "ann" }],
    });
  }
}

function isBase([kind, object]: Objects[number], wanted: RbacKind): boolean {
  return kind === wanted && memberAt(object, "metadata")["name"] === "base";
}

/** An update: of the garbage collector's fields alone, of others, or of what the object gives. */
function anyChange(random: Random, kind: RbacKind, old: JsonObject): JsonObject {
  const metadata = memberAt(old, "metadata");
  const changes = random.pick<JsonObject>([
    { finalizers: ["example.com/x"] },
    { labels: { a: "b" } },
    {},
  ]);
  const changed = { ...typeOf(kind), ...old, metadata: { ...metadata, ...changes } };
  if (kind.endsWith("Binding") || random.integer(2) === 0) return changed;
  return { ...changed, rules: some(random, 0, 2).map(() => anyRule(random, kind)) };
}

function anyGrant(random: Random, kind: RbacKind, name: string): JsonObject {
  if (kind.endsWith("Binding")) {
    const isRole = kind === "RoleBinding" && random.integer(3) === 0;
    const roleName = random.pick([
      "ann",
      "view",
      "edit",
      "gone",
      "system:discovery",
      "system:node",
    ]);
    const roleRef = { apiGroup: group, kind: isRole ? "Role" : "ClusterRole", name: roleName };
    return { ...typeOf(kind), metadata: { name }, roleRef, subjects: [] };
  }
  const rules = some(random, 0, 3).map(() => anyRule(random, kind));
  const isAggregated = kind === "ClusterRole" && random.integer(6) === 0;
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] };
  return {
    ...typeOf(kind),
    metadata: { name },
    rules,
    ...(isAggregated ? { aggregationRule } : {}),
  };
}

function anyRule(random: Random, kind: RbacKind): JsonObject {
  if (kind === "ClusterRole" && random.integer(4) === 0) {
    return {
      verbs: pickSome(random, ["get", "post", "*"]),
      nonResourceURLs: pickSome(random, ["/a", "/a/*", "/a/b", "/b*", "*"]),
    };
  }
  const names = random.integer(3) === 0 ? { resourceNames: pickSome(random, ["n", "m"]) } : {};
  return {
    verbs: pickSome(random, ["get", "list", "update", "*"]),
    apiGroups: pickSome(random, ["", "apps", "*"]),
    resources: pickSome(random, [
      "pods",
      "pods/log",
      "deployments",
      "deployments/scale",
      "*/scale",
      "pods/*",
      "*",
    ]),
    ...names,
  };
}

function anyBinding(random: Random, kind: RbacKind, name: string): JsonObject {
  const isRole = kind === "RoleBinding" && random.integer(2) === 0;
  const roleName = random.pick(["x-a", "x-b", "x-c", "x-d", "x-e", "x-f", "view"]);
  const subjects = some(random, 1, 3).map((): JsonObject => {
    const subject = random.pick(["User", "Group", "ServiceAccount"]);
    if (subject !== "ServiceAccount") {
      return { apiGroup: group, kind: subject, name: random.pick(["u", "v", "w"]) };
    }
    return {
      kind: subject,
      name: random.pick(["u", "v"]),
      namespace: random.pick(["lab-0", "lab-1"]),
    };
  });
  const roleRef = { apiGroup: group, kind: isRole ? "Role" : "ClusterRole", name: roleName };
  return { metadata: { name }, roleRef, subjects };
}

function anyUser(random: Random): User {
  const name = random.pick(["u", "v", "w", "system:serviceaccount:lab-0:u", "nobody"]);
  const groups = ["u", "v", "w", "system:authenticated"].filter(() => random.integer(3) === 0);
  return { name, uid: "", groups, extra: {} };
}

function anyQuestion(random: Random, namespaces: readonly string[]): Attributes {
  if (random.integer(5) === 0) {
    const path = random.pick(["/a", "/a/", "/a/b", "/b", "/bc", "/version", "/"]);
    return { isResource: false, verb: random.pick(["get", "post", "put"]), path };
  }
  return {
    isResource: true,
    verb: random.pick(["get", "list", "update", "delete"]),
    group: random.pick(["", "apps", "batch"]),
    version: "*",
    resource: random.pick(["pods", "deployments", "jobs"]),
    subresource: random.pick(["", "", "log", "scale"]),
    namespace: random.pick(["", ...namespaces]),
    name: random.pick(["", "n", "m"]),
  };
}

function specOf(asked: Attributes): JsonObject {
  if (!asked.isResource) return { nonResourceAttributes: { verb: asked.verb, path: asked.path } };
  const { verb, resource, subresource, namespace, name } = asked;
  const resourceAttributes = { verb, group: asked.group, resource, subresource, namespace, name };
  return { resourceAttributes };
}

type Objects = readonly (readonly [RbacKind, JsonObject])[];

async function readAll(laboratory: Laboratory, signal: AbortSignal): Promise<Objects> {
  const objects: [RbacKind, JsonObject][] = [];
  for (const [kind, plural] of kinds) {
    const list = await laboratory.must({ path: `/apis/${group}/v1/${plural}` }, signal);
    const { items } = list as { readonly items: readonly JsonObject[] };
    for (const item of items) objects.push([kind, item]);
  }
  return objects;
}

function rulesOf(objects: Objects): RbacRules {
  const rules = new RbacRules();
  for (const [kind, object] of objects) rules.set(kind, object);
  return rules;
}

/** The reasons of all bindings that allow it, each asked alone. */
function reasonsOf(objects: Objects, user: User, asked: Attributes): readonly string[] {
  const roles = objects.filter(([kind]) => !kind.endsWith("Binding"));
  return objects
    .filter(([kind]) => kind.endsWith("Binding"))
    .map((binding) => rulesOf([...roles, binding]).authorize(user, asked))
    .filter(({ isAllowed }) => isAllowed)
    .map(({ reason }) => reason);
}

/** The oracle's authoriser follows each kind by a watch of its own: waits until all have seen what came last. */
async function waitForSentinel(laboratory: Laboratory, signal: AbortSignal): Promise<void> {
  const name = "sentinel";
  const rules = [{ verbs: ["get"], apiGroups: [name], resources: [name] }];
  const put = async (at: string, kind: RbacKind, body: JsonObject): Promise<void> => {
    const path = `/apis/${group}/v1/${at}`;
    await laboratory.must({ method: "POST", path, body: { ...typeOf(kind), ...body } }, signal);
  };
  const bound = (role: string, user: string): JsonObject => ({
    metadata: { name: user },
    roleRef: { apiGroup: group, kind: role, name },
    subjects: [{ apiGroup: group, kind: "User", name: user }],
  });
  await put("clusterroles", "ClusterRole", { metadata: { name }, rules });
  await put("namespaces/lab-0/roles", "Role", { metadata: { name }, rules });
  await put("clusterrolebindings", "ClusterRoleBinding", bound("ClusterRole", "sentinel-one"));
  await put("namespaces/lab-0/rolebindings", "RoleBinding", bound("Role", "sentinel-two"));
  for (const user of ["sentinel-one", "sentinel-two"]) {
    for (;;) {
      const resourceAttributes = { verb: "get", group: name, resource: name, namespace: "lab-0" };
      const answer = await laboratory.must(
        {
          method: "POST",
          path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
          body: {
            apiVersion: "authorization.k8s.io/v1",
            kind: "SubjectAccessReview",
            spec: { user, resourceAttributes },
          },
        },
        signal,
      );
      if (memberAt(answer, "status")["allowed"] === true) break;
      await wait(20, undefined, { signal });
    }
  }
}

function typeOf(kind: RbacKind): JsonObject {
  return { apiVersion: `${group}/v1`, kind };
}

function memberAt(value: Json, key: string): JsonObject {
  const member = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(member) ? member : {};
}

/** Errors of several missing roles come in any order. */
function sorted(status: JsonObject): JsonObject {
  const { reason } = status;
  if (typeof reason !== "string" || !reason.startsWith("RBAC: [")) return status;
  const parts = reason
    .slice("RBAC: [".length, -1)
    .split(", ")
    .sort((a, b) => (a < b ? -1 : 1));
  return { ...status, reason: parts.join() };
}

/** The rules of bindings come in any order, and so do the errors. */
function inAnyOrder(review: JsonObject): Json {
  const { resourceRules, nonResourceRules, incomplete, evaluationError } = memberAt(
    review,
    "status",
  );
  const lines = (rules: Json | undefined): Json =>
    isJsonArray(rules)
      ? rules.map((rule) => JSON.stringify(rule)).sort((a, b) => (a < b ? -1 : 1))
      : null;
  return {
    resourceRules: lines(resourceRules),
    nonResourceRules: lines(nonResourceRules),
    incomplete: incomplete ?? null,
    errors:
      typeof evaluationError === "string"
        ? evaluationError.split(/[[\], ]/).sort((a, b) => (a < b ? -1 : 1))
        : null,
  };
}

function some(random: Random, least: number, most: number): readonly undefined[] {
  return Array.from({ length: least + random.integer(most - least + 1) }, () => undefined);
}

function pickSome(random: Random, items: readonly string[]): readonly string[] {
  return random.shuffle(items).slice(0, 1 + random.integer(2));
}
