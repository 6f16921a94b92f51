import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { silentLog, systemRandom, type JsonObject } from "@keelson/base";
import { ManualClock } from "@keelson/base/testing";
import { StatusError } from "@keelson/kube";

import type { BoundKey } from "../bound-objects.ts";
import { createKey } from "../pki/certificate.ts";
import { RbacRules } from "../rbac/rbac-rules.ts";
import { ServiceAccountTokens } from "../service-account-tokens.ts";
import { unionTokens } from "../token-authenticator.ts";
import { tokenFileAuthenticator } from "../token-file.ts";
import type { User } from "../user.ts";
import { answerReview, isReview, type ReviewKind } from "./reviews.ts";
import { issueToken } from "./token-request.ts";

const issuer = "https://kubernetes.default.svc.cluster.local";
const ann: User = { name: "ann", uid: "1", groups: ["team"], extra: { "a/b": ["c"] } };

function prepare() {
  const clock = new ManualClock();
  const stored = new Map<string, JsonObject>();
  const objects = {
    find: ({ kind, namespace, name }: BoundKey) => stored.get(`${kind}/${namespace}/${name}`),
  };
  const put = (kind: string, namespace: string, name: string, spec: JsonObject = {}): void => {
    stored.set(`${kind}/${namespace}/${name}`, { metadata: { name, uid: `uid-${name}` }, spec });
  };
  const tokens = new ServiceAccountTokens({
    issuer,
    audiences: [issuer],
    key: createKey(),
    clock,
    objects,
  });
  const rules = new RbacRules();
  rules.set("ClusterRole", {
    metadata: { name: "reader" },
    rules: [
      { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
      { verbs: ["get"], nonResourceURLs: ["/version"] },
    ],
  });
  rules.set("RoleBinding", {
    metadata: { name: "b", namespace: "shop" },
    roleRef: { kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "Group", name: "team" }],
  });
  const file = tokenFileAuthenticator("secret,bob,7", { audiences: [issuer], log: silentLog });
  const dependencies = {
    authorizer: { authorize: rules.authorize.bind(rules) },
    rules,
    tokens: unionTokens([file, tokens]),
    audiences: [issuer],
    clock,
  };
  const signal = new AbortController().signal;
  const outcome = async (work: Promise<JsonObject>): Promise<unknown> => {
    try {
      return (await work)["status"];
    } catch (error) {
      if (error instanceof StatusError) return `${error.status.code} ${error.message}`;
      throw error;
    }
  };
  const review = async (kind: ReviewKind, spec: JsonObject, namespace = ""): Promise<unknown> => {
    const object = {
      kind,
      apiVersion: "v1",
      metadata: namespace === "" ? {} : { namespace },
      spec,
    };
    return await outcome(
      answerReview(kind, { object, user: ann, namespace }, dependencies, signal),
    );
  };
  const request = async (spec: JsonObject, metadata: JsonObject = {}, most?: number) => {
    const object = { metadata, spec: { expirationSeconds: 3600, ...spec } };
    const limit = most === undefined ? {} : { expirationSecondsMax: most };
    return await issueToken(
      { namespace: "shop", name: "bot", object },
      { tokens, objects, clock, random: systemRandom, ...limit },
      signal,
    );
  };
  const ask = async (spec: JsonObject, metadata: JsonObject = {}): Promise<unknown> =>
    await outcome(request(spec, metadata).then(({ object }) => object));
  return { clock, put, stored, review, request, ask };
}

function claimsOf(object: JsonObject): JsonObject & { readonly jti: string } {
  const { token } = object["status"] as { token: string };
  return JSON.parse(
    Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
  ) as JsonObject & { jti: string };
}

suite("reviews", () => {
  test("an access review answers as the authoriser does", async () => {
    const { review } = prepare();
    const allowed = {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "b/shop" of ClusterRole "reader" to Group "team"',
    };
    const resourceAttributes = { verb: "get", resource: "pods", namespace: "shop", name: "a" };
    const spec = { groups: ["team"], resourceAttributes };
    assert.deepEqual(await review("SubjectAccessReview", spec), allowed);
    assert.deepEqual(await review("LocalSubjectAccessReview", spec, "shop"), allowed);
    assert.deepEqual(await review("SelfSubjectAccessReview", { resourceAttributes }), allowed);
    const path = { nonResourceAttributes: { verb: "get", path: "/version" } };
    assert.deepEqual(await review("SelfSubjectAccessReview", path), { allowed: false });
    assert.equal(
      await review("LocalSubjectAccessReview", spec, "other"),
      '422 .authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "shop": must match metadata.namespace',
    );
  });

  test("one's own rules are those of the namespace", async () => {
    const { review } = prepare();
    assert.deepEqual(await review("SelfSubjectRulesReview", { namespace: "shop" }), {
      resourceRules: [
        { verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a"] },
      ],
      nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["/version"] }],
      incomplete: false,
    });
    assert.equal(await review("SelfSubjectRulesReview", {}), "400 no namespace on request");
  });

  test("one's own name", async () => {
    const { review } = prepare();
    assert.deepEqual(await review("SelfSubjectReview", {}), {
      userInfo: { username: "ann", uid: "1", groups: ["team"], extra: { "a/b": ["c"] } },
    });
    assert.deepEqual(["SelfSubjectReview", "Pod", "constructor"].map(isReview), [
      true,
      false,
      false,
    ]);
  });

  test("a token is reviewed for the audiences it is asked for", async () => {
    const { review, put, request } = prepare();
    put("ServiceAccount", "shop", "bot");
    const issued = await request({ audiences: ["x", "y"] });
    const { token } = issued.object["status"] as { token: string };
    assert.deepEqual(await review("TokenReview", { token, audiences: ["y", "z"] }), {
      authenticated: true,
      user: {
        username: "system:serviceaccount:shop:bot",
        uid: "uid-bot",
        groups: ["system:serviceaccounts", "system:serviceaccounts:shop", "system:authenticated"],
        extra: {
          "authentication.kubernetes.io/credential-id": [`JTI=${claimsOf(issued.object).jti}`],
        },
      },
      audiences: ["y"],
    });
    assert.deepEqual(await review("TokenReview", { token }), {
      user: {},
      error: `[invalid bearer token, token audiences ["x" "y"] is invalid for the target audiences ["${issuer}"]]`,
    });
    assert.deepEqual(await review("TokenReview", { token: "nope" }), {
      user: {},
      error: "invalid bearer token",
    });
  });
});

suite("token requests", () => {
  test("a token says whose it is, for whom, until when, and what it is bound to", async () => {
    const { put, request, clock } = prepare();
    put("ServiceAccount", "shop", "bot");
    put("Pod", "shop", "p", { serviceAccountName: "bot", nodeName: "n" });
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
    const { object } = await request({ boundObjectRef });
    const seconds = clock.now() / 1000;
    const { jti, ...claims } = claimsOf(object);
    assert.match(jti, /^[0-9a-f-]{36}$/);
    assert.deepEqual(claims, {
      aud: [issuer],
      exp: seconds + 3600,
      iat: seconds,
      iss: issuer,
      "kubernetes.io": {
        namespace: "shop",
        node: { name: "n" },
        pod: { name: "p", uid: "uid-p" },
        serviceaccount: { name: "bot", uid: "uid-bot" },
      },
      nbf: seconds,
      sub: "system:serviceaccount:shop:bot",
    });
    const { metadata, spec, status } = object;
    assert.deepEqual(
      { metadata, spec, status },
      {
        metadata: {
          name: "bot",
          namespace: "shop",
          uid: "uid-bot",
          creationTimestamp: "2026-01-01T00:00:00Z",
        },
        spec: { audiences: [issuer], expirationSeconds: 3600, boundObjectRef },
        status: {
          token: (status as { token: string }).token,
          expirationTimestamp: "2026-01-01T01:00:00Z",
        },
      },
    );
  });

  test("a kubelet's token of a pod lives for a year, and says when to warn", async () => {
    const { put, request, clock } = prepare();
    put("ServiceAccount", "shop", "bot");
    put("Pod", "shop", "p", { serviceAccountName: "bot" });
    const boundObjectRef = { kind: "Pod", apiVersion: "v1", name: "p" };
    const { object } = await request({ expirationSeconds: 3607, boundObjectRef });
    const { exp, "kubernetes.io": bound } = claimsOf(object);
    const seconds = clock.now() / 1000;
    assert.equal(exp, seconds + 31_536_000);
    assert.equal((bound as JsonObject)["warnafter"], seconds + 3607);
  });

  test("a life that is too long is cut, with a warning", async () => {
    const { put, request } = prepare();
    put("ServiceAccount", "shop", "bot");
    const { object, warnings } = await request({ expirationSeconds: 9000 }, {}, 7200);
    assert.deepEqual(warnings, ["requested expiration of 9000 seconds shortened to 7200 seconds"]);
    assert.equal((object["spec"] as JsonObject)["expirationSeconds"], 7200);
  });

  test("refusals", async () => {
    const { put, ask, stored } = prepare();
    const secret = (more: JsonObject): JsonObject => ({
      boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "s", ...more },
    });
    assert.equal(await ask({}), '404 serviceaccounts "bot" not found');
    put("ServiceAccount", "shop", "bot");
    put("Pod", "shop", "p", { serviceAccountName: "other" });
    assert.equal(await ask(secret({})), '404 secrets "s" not found');
    put("Secret", "shop", "s");
    const pod = { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "p" } };
    const cases: readonly (readonly [JsonObject, JsonObject, string])[] = [
      [
        { expirationSeconds: 599 },
        {},
        '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      ],
      [
        { expirationSeconds: 2 ** 32 + 1 },
        {},
        '422 TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
      ],
      [
        {},
        { name: "x" },
        '422 TokenRequest.authentication.k8s.io "bot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
      ],
      [
        {},
        { uid: "x" },
        '409 Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "bot": the UID in the token request (x) does not match the UID of the service account (uid-bot)',
      ],
      [
        secret({ uid: "x" }),
        {},
        '409 Operation cannot be fulfilled on Secret "s": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
      ],
      [
        secret({ kind: "Foo", apiVersion: "apps/v1" }),
        {},
        "400 cannot bind token to object of type apps/v1, Kind=Foo",
      ],
      [
        pod,
        {},
        '400 cannot bind token for serviceaccount "bot" to pod running with different serviceaccount name.',
      ],
    ];
    for (const [spec, metadata, expected] of cases)
      assert.equal(await ask(spec, metadata), expected);
    stored.clear();
  });
});
