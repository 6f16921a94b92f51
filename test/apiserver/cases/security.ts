// Who is calling and what they may do: KB 61 to 65.

import type { Json, JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap } from "../objects.ts";
import { allow, allowCluster, rbac } from "./rights.ts";

const authentication = "/apis/authentication.k8s.io/v1";

const scripts: Record<string, Script> = {
  nobody: async (lab) => {
    const nobody = await lab.as("nobody");
    for (const path of [
      "/api",
      "/apis",
      "/api/v1",
      lab.core("configmaps"),
      lab.core("configmaps", "x"),
      "/openapi/v2",
      "/openapi/v3",
      "/metrics",
      "/nothing",
      "/api/v1/nodes",
    ])
      await nobody.get(path);
    for (const path of ["/healthz", "/livez", "/readyz", "/version"])
      await nobody.statusOf({ path });
    await nobody.post(lab.core("configmaps"), configMap("a"));
    await nobody.delete(lab.core("configmaps"));
    await nobody.get(`${lab.core("configmaps")}?watch=1`);
    await nobody.patch("merge", lab.core("configmaps", "a"), {});
    await nobody.get(`/apis/apps/v1/namespaces/${lab.ns}/deployments/x/scale`);
  },
  "bad tokens": async (lab) => {
    for (const token of ["nonsense", "a.b.c", "eyJhbGciOiJub25lIn0.e30."]) {
      const somebody = await lab.as({ token });
      await somebody.get(lab.core("configmaps"));
      await somebody.get("/healthz");
      await somebody.post(lab.core("configmaps"), configMap("a"));
    }
  },
  "somebody without rights": async (lab) => {
    const alice = await lab.as({ name: "alice" });
    for (const path of ["/api", "/apis", "/api/v1", "/openapi/v3"]) await alice.statusOf({ path });
    await alice.get(lab.core("configmaps"));
    await alice.get(lab.core("configmaps", "x"));
    await alice.get("/api/v1/configmaps");
    await alice.get("/api/v1/nodes/x");
    await alice.get(`/api/v1/namespaces/${lab.ns}`);
    await alice.post(lab.core("configmaps"), configMap("a"));
    await alice.put(lab.core("configmaps", "a"), configMap("a"));
    await alice.patch("apply", `${lab.core("configmaps", "a")}?fieldManager=m`, configMap("a"));
    await alice.delete(lab.core("configmaps", "a"));
    await alice.delete(lab.core("configmaps"));
    await alice.get(`${lab.core("configmaps")}?watch=1`);
    await alice.get(`${lab.core("pods", "p")}/log`);
    await alice.get("/apis/nothing.example.com/v1/things");
    await alice.get("/metrics");
    await alice.post(lab.core("configmaps"), "{");
  },
  "with a role": async (lab) => {
    await allow(lab, "bob", [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "create", "patch"] },
      { apiGroups: ["apps"], resources: ["deployments/scale"], verbs: ["*"] },
      {
        apiGroups: [""],
        resources: ["secrets"],
        resourceNames: ["one"],
        verbs: ["get", "watch", "list"],
      },
    ]);
    const bob = await lab.as({ name: "bob" });
    await bob.post(lab.core("configmaps"), configMap("a"));
    await bob.get(lab.core("configmaps", "a"));
    await bob.get(lab.core("configmaps"));
    await bob.put(lab.core("configmaps", "a"), configMap("a"));
    await bob.put(lab.core("configmaps", "new"), configMap("new"));
    await bob.patch("apply", `${lab.core("configmaps", "b")}?fieldManager=m`, configMap("b"));
    await bob.delete(lab.core("configmaps", "a"));
    await bob.get(`${lab.group("apps/v1", "deployments", "d")}/scale`);
    await bob.get(lab.group("apps/v1", "deployments", "d"));
    await bob.get(lab.core("secrets", "one"));
    await bob.get(lab.core("secrets", "two"));
    await bob.get(`${lab.core("secrets")}?fieldSelector=metadata.name%3Done`);
    await bob.get(lab.core("secrets"));
    await bob.get("/api/v1/configmaps");
  },
  "apply without the right to create": async (lab) => {
    await allow(lab, "carol", [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "patch"] },
    ]);
    const carol = await lab.as({ name: "carol" });
    await carol.patch("apply", `${lab.core("configmaps", "b")}?fieldManager=m`, configMap("b"));
    await lab.create(lab.core("configmaps"), configMap("b"));
    await carol.patch(
      "apply",
      `${lab.core("configmaps", "b")}?fieldManager=m`,
      configMap("b", { x: "1" }),
    );
  },
  "by group, across namespaces, on paths": async (lab) => {
    await allowCluster(
      lab,
      "g",
      { kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: `team-${lab.id}` },
      [
        { apiGroups: ["*"], resources: ["*"], verbs: ["list"] },
        { nonResourceURLs: ["/metrics", "/logs/*"], verbs: ["get"] },
      ],
    );
    const dave = await lab.as({ name: "dave", groups: [`team-${lab.id}`] });
    await dave.statusOf({ path: lab.core("configmaps") });
    await dave.statusOf({ path: "/api/v1/nodes" });
    await dave.get(lab.core("configmaps", "x"));
    await dave.get("/metrics/slis/x");
    await dave.get(`${lab.core("configmaps")}?watch=1`);
  },
  "being somebody else": async (lab) => {
    await allow(lab, "frank", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
    const as = (headers: Record<string, string | readonly string[]>) => ({ headers });
    await lab.statusOf({ path: lab.core("configmaps"), headers: { "impersonate-user": "frank" } });
    await lab.get(lab.core("secrets"), as({ "impersonate-user": "frank" }));
    const who = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    for (const headers of [
      { "impersonate-user": "frank" },
      { "impersonate-user": "frank", "impersonate-group": ["a", "b"] },
      {
        "impersonate-user": "frank",
        "impersonate-uid": "u1",
        "impersonate-extra-scopes": "x",
        "impersonate-extra-example.com%2Fy": "z",
      },
      { "impersonate-group": "a" },
      { "impersonate-uid": "u" },
      { "impersonate-extra-x": "y" },
      { "impersonate-user": "system:serviceaccount:default:default" },
      { "impersonate-user": "system:anonymous" },
      { "impersonate-user": "" },
    ] as Record<string, string | readonly string[]>[]) {
      await lab.post(`${authentication}/selfsubjectreviews`, who, as(headers));
    }
    const grace = await lab.as({ name: "grace" });
    await grace.get(lab.core("configmaps"), as({ "impersonate-user": "frank" }));
    await allowCluster(
      lab,
      "imp",
      { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "grace" },
      [{ apiGroups: [""], resources: ["users"], verbs: ["impersonate"], resourceNames: ["frank"] }],
    );
    await grace
      .until(
        `${lab.core("configmaps")}?limit=1`,
        ({ status }) => status === 200,
        as({ "impersonate-user": "frank" }),
      )
      .then(() => lab.observations.pop());
    await grace.statusOf({
      path: lab.core("configmaps"),
      headers: { "impersonate-user": "frank" },
    });
    await grace.get(lab.core("configmaps"), as({ "impersonate-user": "heidi" }));
    await grace.get(
      lab.core("configmaps"),
      as({ "impersonate-user": "frank", "impersonate-group": "system:masters" }),
    );
    await grace.get(
      lab.core("configmaps"),
      as({ "impersonate-user": "frank", "impersonate-extra-a": "b" }),
    );
    await grace.get(
      lab.core("configmaps"),
      as({ "impersonate-user": "frank", "impersonate-uid": "b" }),
    );
  },
  "nobody gives more than they have": async (lab) => {
    await allow(lab, "ivan", [
      {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["roles", "rolebindings"],
        verbs: ["create", "update", "patch", "get"],
      },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] },
    ]);
    const ivan = await lab.as({ name: "ivan" });
    const role = (name: string, rules: Json): JsonObject => ({
      apiVersion: rbac,
      kind: "Role",
      metadata: { name },
      rules,
    });
    await ivan.post(
      lab.group(rbac, "roles"),
      role("fine", [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }]),
    );
    await ivan.post(
      lab.group(rbac, "roles"),
      role("more", [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]),
    );
    await ivan.put(
      lab.group(rbac, "roles", "fine"),
      role("fine", [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }]),
    );
    await ivan.patch("merge", lab.group(rbac, "roles", "fine"), {
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get", "delete"] }],
    });
    const bind = (name: string, role: string): JsonObject => ({
      apiVersion: rbac,
      kind: "RoleBinding",
      metadata: { name },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "ivan" }],
    });
    await ivan.post(lab.group(rbac, "rolebindings"), bind("b", "cluster-admin"));
    await ivan.post(lab.group(rbac, "rolebindings"), bind("c", "nothing"));
  },
  "a role reference stays": async (lab) => {
    await allow(lab, "judy", [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }]);
    await lab.patch("merge", lab.group(rbac, "rolebindings", "judy"), {
      roleRef: { name: "other" },
    });
    await lab.patch("merge", lab.group(rbac, "rolebindings", "judy"), { subjects: [] });
  },
  "roles made of roles": async (lab) => {
    const label = { [`aggregate-${lab.id}`]: "true" };
    const path = `/apis/${rbac}/clusterroles`;
    await lab.post(path, {
      apiVersion: rbac,
      kind: "ClusterRole",
      metadata: { name: `whole-${lab.id}` },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: label }] },
    });
    await lab.create(path, {
      apiVersion: rbac,
      kind: "ClusterRole",
      metadata: { name: `part-${lab.id}`, labels: label },
      rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
    });
    const { body } = await lab.until(`${path}/whole-${lab.id}`, ({ text }) =>
      text.includes('"pods"'),
    );
    lab.observations.pop();
    lab.note("rules", (body as JsonObject)["rules"] ?? null);
  },
  ...casesFor(
    Object.fromEntries(
      [
        "cluster-admin",
        "admin",
        "edit",
        "view",
        "system:discovery",
        "system:basic-user",
        "system:public-info-viewer",
        "system:auth-delegator",
        "system:service-account-issuer-discovery",
      ].map((name) => [name, name]),
    ),
    "the role %",
    async (lab, name) => {
      const { body, status } = await lab.quietly({
        path: `/apis/${rbac}/clusterroles/${encodeURIComponent(name)}`,
      });
      lab.note("status", status);
      const { metadata, rules, aggregationRule } = body as {
        metadata?: { labels?: Json; annotations?: Json };
        rules?: Json;
        aggregationRule?: Json;
      };
      lab.note("labels", [
        metadata?.labels ?? null,
        metadata?.annotations ?? null,
        aggregationRule ?? null,
      ]);
      lab.note("rules", rules ?? null);
    },
  ),
};

export const securityCases = casesOf("security", scripts);
