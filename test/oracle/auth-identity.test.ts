// Who somebody is: certificates and impersonation, at the oracle and by our rules.

import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
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
  type Random,
} from "@keelson/base";
import { StatusError } from "@keelson/kube";

import type { Attributes } from "../../packages/apiserver/src/auth/authorizer.ts";
import { certificateAuthenticator } from "../../packages/apiserver/src/auth/client-certificates.ts";
import { forbidden } from "../../packages/apiserver/src/auth/forbidden.ts";
import { distinctHeaders } from "../../packages/apiserver/src/auth/headers.ts";
import { Impersonation } from "../../packages/apiserver/src/auth/impersonation.ts";
import { issueCertificate } from "../../packages/apiserver/src/auth/pki/certificate.ts";
import {
  CertificatePool,
  readCertificates,
} from "../../packages/apiserver/src/auth/pki/certificate-pool.ts";
import {
  requestHeaderAuthenticator,
  usualRequestHeaders,
} from "../../packages/apiserver/src/auth/request-header.ts";
import { RbacRules, type RbacKind } from "../../packages/apiserver/src/auth/rbac/rbac-rules.ts";
import { bootstrapRbacObjects } from "../../packages/apiserver/src/bootstrap/rbac.ts";
import { unionAuthenticator } from "../../packages/apiserver/src/auth/union.ts";
import type { User } from "../../packages/apiserver/src/auth/user.ts";
import { Laboratory, oracleTest, runTrials, trialSettings } from "./differential.ts";
import { until } from "../tools/until.ts";

const whoAmI = {
  method: "POST",
  path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
  body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
} as const;

suite("identity beside the oracle", () => {
  oracleTest("certificates and front proxies are believed alike", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1 }, t.signal);
    const { oracle } = laboratory;
    const pem = (name: string): string => readFileSync(join(oracle.folder, name), "utf8");
    const clients = { certificate: pem("ca.crt"), key: pem("ca.key") };
    const proxies = {
      certificate: oracle.frontProxyAuthority.certificate,
      key: oracle.frontProxyAuthority.key,
    };
    const pools = [clients, proxies].map(
      ({ certificate }) => new CertificatePool(readCertificates(certificate)),
    );
    const [clientPool = new CertificatePool([]), proxyPool = clientPool] = pools;
    const authenticator = unionAuthenticator({
      authenticators: [
        requestHeaderAuthenticator({
          clock: systemClock,
          authorities: () => proxyPool,
          names: () => ({ ...usualRequestHeaders, allowedNames: ["front-proxy-client"] }),
        }),
        certificateAuthenticator({ clock: systemClock, authorities: () => clientPool }),
      ],
      allowsAnonymous: true,
      log: silentLog,
    });
    const day = 86_400_000;
    const now = systemClock.now();
    const validity = { notBefore: new Date(now - day), notAfter: new Date(now + day) };
    const past = { notBefore: new Date(now - 2 * day), notAfter: new Date(now - day) };
    const remote = {
      "X-Remote-User": "someone",
      "X-Remote-Uid": "5",
      "X-Remote-Group": ["a, b", "", "c"],
      "X-Remote-Extra-Some%2fKey": ["v", "w"],
    };
    const cases = [
      { by: clients, subject: { name: "ann", groups: ["a", "b, c", "äö"] }, validity },
      { by: clients, subject: { name: "ann" }, validity: past },
      { by: clients, subject: { name: "ann", hosts: ["localhost"] }, validity },
      { by: clients, subject: { name: "", groups: ["a"] }, validity },
      { by: clients, subject: { name: "ann", groups: ["system:unauthenticated"] }, validity },
      { by: clients, subject: { name: "system:anonymous" }, validity },
      { by: clients, subject: { name: "ann" }, validity, headers: remote },
      { by: proxies, subject: { name: "ann" }, validity },
      { by: proxies, subject: { name: "ann" }, validity, headers: remote },
      { by: proxies, subject: { name: "front-proxy-client" }, validity },
      { by: proxies, subject: { name: "front-proxy-client" }, validity, headers: remote },
      { by: proxies, subject: { name: "front-proxy-client" }, validity: past, headers: remote },
    ];
    for (const { by, subject, validity, headers = {} } of cases) {
      const pair = await issueCertificate(by, subject, { validity, random: systemRandom });
      using client = oracle.connectAs(pair);
      const answer = await client.send({ ...whoAmI, headers }, t.signal);
      const raw = Object.entries<string | readonly string[]>(headers).flatMap(([name, values]) =>
        [values].flat().flatMap((value) => [name, value]),
      );
      const expected = answer.status === 201 ? shown(answer.body) : { code: answer.status };
      assert.deepEqual(
        await outcome(async () => {
          const found = await authenticator.authenticate(
            {
              certificates: [new X509Certificate(pair.certificate)],
              authorization: undefined,
              headers: distinctHeaders(raw),
            },
            t.signal,
          );
          assert.ok(found !== undefined);
          // Nobody in particular may not even ask who it is.
          const isKnown = found.user.groups.includes("system:authenticated");
          return isKnown ? shownUser(found.user) : { code: 403 };
        }),
        expected,
        JSON.stringify([subject, headers]),
      );
    }
  });

  oracleTest("acting as another is allowed and refused alike", async (t) => {
    await using laboratory = await Laboratory.open({ namespaces: 1 }, t.signal);
    const { seed, count, only } = trialSettings(120);
    const report = await runTrials(
      { title: "impersonation", seed, count, only, concurrency: 8 },
      async (random, index, signal) => {
        // The oracle remembers which mode worked for a user: each trial has one of its own.
        const name = `user-${index}`;
        const identity = await laboratory.oracle.issue({ name });
        using client = laboratory.oracle.connectAs(identity);
        const rules = await giveRights(laboratory, { random, name }, signal);
        const headers = anyHeaders(random);
        const answer = await client.send({ ...whoAmI, headers }, signal);
        const raw = Object.entries(headers).flatMap(([header, values]) =>
          [values].flat().flatMap((value) => [header, value]),
        );
        const fingerprint = new X509Certificate(identity.certificate).fingerprint256;
        const credential = `X509SHA256=${fingerprint.replaceAll(":", "").toLowerCase()}`;
        const extra = { "authentication.kubernetes.io/credential-id": [credential] };
        const user: User = { name, uid: "", groups: ["system:authenticated"], extra };
        const authorizer = { authorize: rules.authorize.bind(rules) };
        const ours = await outcome(async () => {
          const acting = await new Impersonation(authorizer).impersonate(
            { user, headers: distinctHeaders(raw), attributes: asking },
            signal,
          );
          const caller = acting?.user ?? user;
          const { isAllowed, reason } = rules.authorize(caller, asking);
          if (!isAllowed) throw forbidden(caller, asking, reason);
          return shownUser(caller);
        }, "whole");
        const accepted = answer.status === 201;
        return {
          kind: Object.keys(headers).length > 1 ? "parts" : "name",
          operation: "impersonate",
          accepted,
          oracle: accepted ? shown(answer.body) : (answer.body as Json),
          ours,
          context: { headers, name },
        };
      },
      t.signal,
    );
    t.diagnostic(report.toString());
    report.assertExplained();
  });
});

const asking: Attributes = {
  isResource: true,
  verb: "create",
  group: "authentication.k8s.io",
  version: "v1",
  resource: "selfsubjectreviews",
  subresource: "",
  namespace: "",
  name: "",
};

/** Random rights to act as others, given at the oracle and told to our rules. */
async function giveRights(
  laboratory: Laboratory,
  { random, name }: { readonly random: Random; readonly name: string },
  signal: AbortSignal,
): Promise<RbacRules> {
  const mode = random.pick(["user-info", "serviceaccount", "arbitrary-node", "legacy", "legacy"]);
  const verb = mode === "legacy" ? "impersonate" : `impersonate:${mode}`;
  const coreGroup = mode === "legacy" ? "" : "authentication.k8s.io";
  const all: JsonObject[] = [
    { verbs: [verb], apiGroups: [coreGroup], resources: ["users"] },
    { verbs: [verb], apiGroups: [coreGroup], resources: ["serviceaccounts", "nodes"] },
    { verbs: [verb], apiGroups: [coreGroup], resources: ["groups"] },
    { verbs: [verb], apiGroups: ["authentication.k8s.io"], resources: ["uids"] },
    {
      verbs: [verb],
      apiGroups: ["authentication.k8s.io"],
      resources: ["userextras/example.com/key"],
    },
    {
      verbs: [`impersonate-on:${mode}:create`],
      apiGroups: ["authentication.k8s.io"],
      resources: ["selfsubjectreviews"],
    },
  ];
  const kept = all.filter(() => random.integer(6) > 0);
  const type = { apiVersion: "rbac.authorization.k8s.io/v1" };
  const probe = { verbs: ["probe"], apiGroups: [""], resources: ["probes"] };
  const ask = {
    verbs: ["create"],
    apiGroups: ["authentication.k8s.io"],
    resources: ["selfsubjectreviews"],
  };
  const role = { ...type, kind: "ClusterRole", metadata: { name }, rules: [probe, ask, ...kept] };
  const binding = {
    ...type,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name }],
  };
  const path = "/apis/rbac.authorization.k8s.io/v1";
  await laboratory.must({ method: "POST", path: `${path}/clusterroles`, body: role }, signal);
  await laboratory.must(
    { method: "POST", path: `${path}/clusterrolebindings`, body: binding },
    signal,
  );
  await until(async () => {
    const answer = await laboratory.must(
      {
        method: "POST",
        path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        body: {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SubjectAccessReview",
          spec: { user: name, resourceAttributes: { verb: "probe", resource: "probes" } },
        },
      },
      signal,
    );
    const status = isJsonObject(answer) ? answer["status"] : undefined;
    return isJsonObject(status) && status["allowed"] === true;
  }, signal);
  const rules = new RbacRules();
  for (const object of await bootstrapRbacObjects()) rules.set(object["kind"] as RbacKind, object);
  rules.set("ClusterRole", role);
  rules.set("ClusterRoleBinding", binding);
  return rules;
}

function anyHeaders(random: Random): Record<string, string | string[]> {
  const user = random.pick([
    "bob",
    "system:serviceaccount:lab-0:bot",
    "system:node:n",
    "system:anonymous",
    "",
  ]);
  const maybe = (share: number): boolean => random.integer(share) === 0;
  const groups = random.pick([
    ["a"],
    ["a", "b, c"],
    ["system:unauthenticated"],
    ["a", "b", "c", "d"],
  ]);
  return {
    ...(user === "" ? {} : { "Impersonate-User": user }),
    ...(maybe(3) ? { "Impersonate-Group": groups } : {}),
    ...(maybe(5) ? { "Impersonate-Uid": "7" } : {}),
    ...(maybe(5) ? { "Impersonate-Extra-example.com%2Fkey": ["v"] } : {}),
  };
}

async function outcome(
  work: () => Promise<JsonObject>,
  shape: "code" | "whole" = "code",
): Promise<Json> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (shape === "code") return { code: error.status.code };
    return JSON.parse(JSON.stringify(error.status)) as Json;
  }
}

function shown(body: unknown): Json {
  const { status } = body as { readonly status: { readonly userInfo: JsonObject } };
  return status.userInfo;
}

function shownUser({ name, uid, groups, extra }: User): JsonObject {
  return {
    username: name,
    ...(uid === "" ? {} : { uid }),
    groups,
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}
