// Reviews and tokens: the same questions to the oracle and to our rules.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";

import {
  isJsonObject,
  silentLog,
  systemClock,
  systemRandom,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { StatusError } from "@keelson/kube";

import type { BoundKey } from "../../packages/apiserver/src/auth/bound-objects.ts";
import { RbacRules } from "../../packages/apiserver/src/auth/rbac/rbac-rules.ts";
import {
  answerReview,
  type ReviewKind,
} from "../../packages/apiserver/src/auth/reviews/reviews.ts";
import { issueToken } from "../../packages/apiserver/src/auth/reviews/token-request.ts";
import { ServiceAccountTokens } from "../../packages/apiserver/src/auth/service-account-tokens.ts";
import { unionTokens } from "../../packages/apiserver/src/auth/token-authenticator.ts";
import { tokenFileAuthenticator } from "../../packages/apiserver/src/auth/token-file.ts";
import type { User } from "../../packages/apiserver/src/auth/user.ts";
import { Laboratory, oracleTest } from "./differential.ts";

const issuer = "https://kubernetes.default.svc.cluster.local";
const admin: User = {
  name: "oracle-admin",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: {},
};

/** Our rules with the keys, tokens and objects of the oracle. */
function ours(laboratory: Laboratory) {
  const file = (name: string): string => readFileSync(join(laboratory.oracle.folder, name), "utf8");
  const plurals = {
    ServiceAccount: "serviceaccounts",
    Pod: "pods",
    Secret: "secrets",
    Node: "nodes",
  };
  const objects = {
    find: async ({ kind, namespace, name }: BoundKey, signal: AbortSignal) => {
      const at = namespace === "" ? "" : `/namespaces/${namespace}`;
      const answer = await laboratory.send(
        { path: `/api/v1${at}/${plurals[kind]}/${name}` },
        signal,
      );
      return answer.isAccepted && isJsonObject(answer.body) ? answer.body : undefined;
    },
  };
  const tokens = new ServiceAccountTokens({
    issuer,
    audiences: [issuer],
    key: file("service-accounts.key"),
    clock: systemClock,
    objects,
  });
  const fromFile = tokenFileAuthenticator(file("tokens.csv"), {
    audiences: [issuer],
    log: silentLog,
  });
  const rules = new RbacRules();
  const dependencies = {
    authorizer: { authorize: rules.authorize.bind(rules) },
    rules,
    tokens: unionTokens([fromFile, tokens]),
    audiences: [issuer],
    clock: systemClock,
  };
  return { tokens, objects, dependencies };
}

const access = (resourceAttributes: JsonObject, more: JsonObject = {}): JsonObject => ({
  spec: { user: "bob", resourceAttributes, ...more },
});
const pods = { verb: "get", resource: "pods" };

const reviews: readonly (readonly [kind: ReviewKind, body: JsonObject, namespace?: string])[] = [
  ["SubjectAccessReview", access({ ...pods, namespace: "x" })],
  ["SubjectAccessReview", access(pods, { groups: ["system:masters"] })],
  ["SubjectAccessReview", { spec: {} }],
  ["SubjectAccessReview", access(pods, { nonResourceAttributes: { path: "/x", verb: "get" } })],
  ["SubjectAccessReview", { ...access({}), metadata: { name: "x", labels: { a: "<b>" } } }],
  ["SubjectAccessReview", access({ ...pods, fieldSelector: {}, labelSelector: {} })],
  [
    "SubjectAccessReview",
    access({
      ...pods,
      fieldSelector: { rawSelector: "a=b", requirements: [{ key: "", operator: "In" }] },
      labelSelector: { requirements: [{ key: "-a", operator: "In", values: ["-b"] }] },
    }),
  ],
  [
    "SubjectAccessReview",
    access({
      ...pods,
      fieldSelector: { rawSelector: "a" },
      labelSelector: {
        requirements: [
          { key: "a", operator: "Foo", values: ["b"] },
          { key: "b", operator: "Exists" },
        ],
      },
    }),
  ],
  [
    "SubjectAccessReview",
    access({
      ...pods,
      fieldSelector: {
        requirements: [
          { key: "a", operator: "In", values: ["b"] },
          { key: "b", operator: "Exists" },
          { key: "c", operator: "NotIn", values: ["d", "e"] },
        ],
      },
      labelSelector: { rawSelector: "a in (b" },
    }),
  ],
  [
    "SubjectAccessReview",
    access({
      ...pods,
      fieldSelector: { requirements: [{ key: "a", operator: "Exists", values: ["b"] }] },
      labelSelector: { requirements: [{ key: "a", operator: "DoesNotExist", values: ["b"] }] },
    }),
  ],
  ["SelfSubjectAccessReview", { spec: { resourceAttributes: pods } }],
  ["SelfSubjectAccessReview", { spec: { nonResourceAttributes: { path: "/", verb: "get" } } }],
  ["SelfSubjectAccessReview", { spec: {} }],
  ["LocalSubjectAccessReview", access({ ...pods, namespace: "lab-0" }), "lab-0"],
  ["LocalSubjectAccessReview", access({ ...pods, namespace: "other" }), "lab-0"],
  ["LocalSubjectAccessReview", access(pods), "lab-0"],
  [
    "LocalSubjectAccessReview",
    {
      metadata: { name: "q" },
      spec: { user: "u", nonResourceAttributes: { verb: "get", path: "/a" } },
    },
    "lab-0",
  ],
  ["SelfSubjectRulesReview", { spec: {} }],
  ["TokenReview", { spec: {} }],
  ["TokenReview", { spec: { token: "nope" } }],
  ["TokenReview", { spec: { token: "a.b.c" } }],
];

suite("reviews beside the oracle", () => {
  oracleTest("reviews are answered alike", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1 }, t.signal);
    const { dependencies } = ours(laboratory);
    const adminToken = { spec: { token: laboratory.oracle.admin.token } };
    const elsewhere = { spec: { ...adminToken.spec, audiences: ["other"] } };
    const all: typeof reviews = [
      ...reviews,
      ["TokenReview", adminToken],
      ["TokenReview", elsewhere],
    ];
    for (const [kind, body, namespace = ""] of all) {
      const group = kind === "TokenReview" ? "authentication.k8s.io" : "authorization.k8s.io";
      const plural = `${kind.toLowerCase()}s`;
      const at = namespace === "" ? plural : `namespaces/${namespace}/${plural}`;
      const type = { kind, apiVersion: `${group}/v1` };
      const request = {
        method: "POST",
        path: `/apis/${group}/v1/${at}`,
        body: { ...type, ...body },
      };
      const answer = await laboratory.send({ ...request, method: "POST" }, t.signal);
      const sent = isJsonObject(body["metadata"]) ? body["metadata"] : {};
      const { name, ...labels } = sent;
      const metadata = {
        ...(name === undefined ? {} : { name }),
        ...(namespace === "" ? {} : { namespace }),
        ...labels,
      };
      const object = { ...type, ...body, metadata };
      const answered = await outcome(
        answerReview(kind, { object, user: admin, namespace }, dependencies, t.signal),
      );
      assert.deepEqual(
        answered,
        withoutManagers(answer.body ?? null),
        `${kind} ${JSON.stringify(body)}`,
      );
    }
  });

  oracleTest("tokens have the same claims, and each accepts the other's", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1 }, t.signal);
    const { tokens, objects, dependencies } = ours(laboratory);
    const core = "/api/v1/namespaces/lab-0";
    const put = async (path: string, kind: string, body: JsonObject): Promise<void> => {
      await laboratory.must(
        { method: "POST", path, body: { apiVersion: "v1", kind, ...body } },
        t.signal,
      );
    };
    const containers = [{ name: "c", image: "i" }];
    await put("/api/v1/nodes", "Node", { metadata: { name: "n" } });
    await put(`${core}/serviceaccounts`, "ServiceAccount", { metadata: { name: "bot" } });
    await put(`${core}/secrets`, "Secret", { metadata: { name: "s" } });
    for (const [name, spec] of [
      ["p", { serviceAccountName: "bot", nodeName: "n" }],
      ["q", { serviceAccountName: "bot", nodeName: "unknown" }],
      ["r", { serviceAccountName: "bot" }],
      ["other", {}],
    ] as const) {
      await put(`${core}/pods`, "Pod", { metadata: { name }, spec: { ...spec, containers } });
    }
    const bound = (kind: string, name: string, more: JsonObject = {}): JsonObject => ({
      boundObjectRef: { kind, apiVersion: "v1", name, ...more },
    });
    const requests: readonly (readonly [
      account: string,
      spec: JsonObject,
      metadata?: JsonObject,
    ])[] = [
      ["bot", {}],
      ["bot", { audiences: ["x", "y"], expirationSeconds: 600 }],
      ["bot", { expirationSeconds: 599 }],
      ["bot", { expirationSeconds: 2 ** 32 + 1 }],
      ["none", {}],
      ["bot", {}, { name: "other" }],
      ["bot", {}, { uid: "other" }],
      ["bot", bound("Secret", "s")],
      ["bot", bound("Secret", "gone")],
      ["bot", bound("Secret", "s", { uid: "wrong" })],
      ["bot", bound("Node", "n")],
      ["bot", bound("Node", "gone")],
      ["bot", bound("Pod", "p")],
      ["bot", bound("Pod", "q")],
      ["bot", bound("Pod", "r")],
      ["bot", bound("Pod", "other")],
      ["bot", { ...bound("Pod", "p"), expirationSeconds: 3607 }],
      ["bot", { ...bound("Pod", "p"), expirationSeconds: 3607, audiences: ["x"] }],
      ["bot", bound("Foo", "f", { apiVersion: "apps/v1" })],
      ["bot", bound("Foo", "f")],
      ["bot", bound("Pod", "p", { apiVersion: "a/b/c" })],
    ];
    const issued: string[] = [];
    for (const [name, spec, metadata = {}] of requests) {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata, spec };
      const path = `${core}/serviceaccounts/${name}/token`;
      const answer = await laboratory.send({ method: "POST", path, body }, t.signal);
      const object = { ...body, spec: { expirationSeconds: 3600, ...spec } };
      const answered = await outcome(
        issueToken(
          { namespace: "lab-0", name, object },
          { tokens, objects, clock: systemClock, random: systemRandom },
          t.signal,
        ).then((result) => result.object),
      );
      const expected = withoutManagers(answer.body ?? null);
      for (const one of [answered, expected]) {
        const token = tokenOf(one);
        if (token !== undefined) issued.push(token);
      }
      assert.deepEqual(opened(answered), opened(expected), JSON.stringify([name, spec, metadata]));
    }

    assert.ok(issued.length > 10);
    const tampered = issued.map((token) => `${token.slice(0, -6)}AAAAAA`).slice(0, 2);
    const review = async (token: string): Promise<void> => {
      const body = { kind: "TokenReview", apiVersion: "authentication.k8s.io/v1", spec: { token } };
      const path = "/apis/authentication.k8s.io/v1/tokenreviews";
      const answer = await laboratory.send({ method: "POST", path, body }, t.signal);
      const object = { ...body, metadata: {} };
      const answered = await outcome(
        answerReview("TokenReview", { object, user: admin, namespace: "" }, dependencies, t.signal),
      );
      assert.deepEqual(answered, withoutManagers(answer.body ?? null));
    };
    for (const token of [...issued, ...tampered]) await review(token);

    // The oracle remembers for ten seconds that a token was good: what follows is asked with tokens it has not seen.
    const late = await Promise.all(
      [bound("Secret", "s"), bound("Node", "n"), bound("Pod", "r"), {}].map(async (spec) => {
        const object = { metadata: {}, spec: { expirationSeconds: 3600, ...spec } };
        const result = await issueToken(
          { namespace: "lab-0", name: "bot", object },
          { tokens, objects, clock: systemClock, random: systemRandom },
          t.signal,
        );
        return tokenOf(result.object) ?? "";
      }),
    );
    const remove = async (path: string): Promise<void> => {
      await laboratory.must({ method: "DELETE", path, body: { gracePeriodSeconds: 0 } }, t.signal);
    };
    await remove(`${core}/secrets/s`);
    await remove("/api/v1/nodes/n");
    await remove(`${core}/pods/r`);
    for (const token of late.slice(0, 3)) await reviewUntilSame(token);
    await remove(`${core}/serviceaccounts/bot`);
    await reviewUntilSame(late[3] ?? "");

    /** The oracle looks into caches first, and they lag a little: an answer that is right stays right. */
    async function reviewUntilSame(token: string): Promise<void> {
      for (let attempt = 0; ; attempt += 1) {
        try {
          await review(token);
          return;
        } catch (error) {
          if (attempt === 600) throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    }
  });
});

async function outcome(work: Promise<JsonObject>): Promise<Json> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return JSON.parse(JSON.stringify(error.status)) as Json;
  }
}

/** Managed fields are the business of whoever reads the body; they are shown in messages, too. */
function withoutManagers(body: Json): Json {
  const text = JSON.stringify(body, (key, value: Json) =>
    key === "managedFields" ? undefined : value,
  );
  return JSON.parse(text.replaceAll(/,?\\"managedFields\\":\[.*?\}\]/g, "")) as Json;
}

function tokenOf(object: Json): string | undefined {
  const status = isJsonObject(object) ? object["status"] : undefined;
  const token = isJsonObject(status) ? status["token"] : undefined;
  return typeof token === "string" ? token : undefined;
}

/** A TokenRequest with its token opened, and without what differs from one moment to the next. */
function opened(object: Json): Json {
  const token = tokenOf(object);
  if (token === undefined) return object;
  const [header, claims] = token
    .split(".")
    .slice(0, 2)
    .map((part) => Buffer.from(part, "base64url").toString());
  const { iat, nbf, exp, jti, ...rest } = JSON.parse(claims ?? "") as Record<string, Json>;
  const start = Number(iat);
  const bound = rest["kubernetes.io"] as JsonObject;
  const warnAfter = bound["warnafter"];
  const { metadata, spec } = object as JsonObject;
  return {
    metadata: { ...(metadata as JsonObject), creationTimestamp: "" },
    spec: spec ?? null,
    header: header ?? "",
    order: Object.keys(JSON.parse(claims ?? "") as object),
    claims: { ...rest, "kubernetes.io": { ...bound, warnafter: null } },
    times: [Number(nbf) - start, Number(exp) - start, Number(warnAfter ?? start) - start],
    hasId: typeof jti,
  };
}
