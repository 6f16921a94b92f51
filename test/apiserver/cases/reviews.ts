// Tokens of accounts, and what a server says of tokens and rights when it is asked: KB 63, 64.

import type { JsonObject } from "@keelson/base";

import { casesOf, type Script } from "../case.ts";
import { serviceAccount } from "../objects.ts";
import { allow, rbac } from "./rights.ts";

const authorization = "/apis/authorization.k8s.io/v1";
const authentication = "/apis/authentication.k8s.io/v1";

const scripts: Record<string, Script> = {
  "a token of an account": async (lab) => {
    await lab.create(lab.core("serviceaccounts"), serviceAccount("robot"));
    const { body } = await lab.quietly({
      method: "POST",
      path: `${lab.core("serviceaccounts", "robot")}/token`,
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} },
    });
    const { status } = body as { status: { token: string } };
    const robot = await lab.as({ token: status.token });
    await robot.get(lab.core("configmaps"));
    await robot.post(`${authentication}/selfsubjectreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
    });
    await lab.create(lab.group(rbac, "rolebindings"), {
      apiVersion: rbac,
      kind: "RoleBinding",
      metadata: { name: "robot" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "ServiceAccount", name: "robot", namespace: lab.ns }],
    });
    await robot.until(lab.core("configmaps", "none"), ({ status }) => status !== 403);
    await robot.get(lab.core("secrets", "none"));
    await lab.post(`${authentication}/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: status.token },
    });
    await lab.post(`${authentication}/tokenreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenReview",
      spec: { token: status.token, audiences: ["other"] },
    });
    await lab.must({ method: "DELETE", path: lab.core("serviceaccounts", "robot") });
    await robot.until(lab.core("configmaps", "none"), ({ status }) => status === 401);
  },
  "a token bound to a secret": async (lab) => {
    await lab.create(lab.core("serviceaccounts"), serviceAccount("robot"));
    const { uid } = await lab.create(lab.core("secrets"), {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "bound" },
    });
    const { body } = await lab.quietly({
      method: "POST",
      path: `${lab.core("serviceaccounts", "robot")}/token`,
      body: {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenRequest",
        spec: { boundObjectRef: { kind: "Secret", apiVersion: "v1", name: "bound", uid } },
      },
    });
    const { status } = body as { status: { token: string } };
    const robot = await lab.as({ token: status.token });
    await robot.get(lab.core("configmaps"));
    await lab.must({ method: "DELETE", path: lab.core("secrets", "bound") });
    await robot.until(lab.core("configmaps"), ({ status }) => status === 401);
  },
  "reviews of tokens": async (lab) => {
    for (const spec of [{ token: "nonsense" }, {}, { token: "" }])
      await lab.post(`${authentication}/tokenreviews`, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec,
      });
    await lab
      .post(`${authentication}/tokenreviews`, {
        apiVersion: "authentication.k8s.io/v1",
        kind: "TokenReview",
        spec: { token: lab.adminToken },
      })
      .then(() => lab.observations.pop());
    await lab.post(`${authentication}/selfsubjectreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
    });
    await lab.get(`${authentication}/selfsubjectreviews`);
    const alice = await lab.as({ name: "alice", groups: ["a", "b"] });
    await alice.post(`${authentication}/selfsubjectreviews`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
    });
    await alice.post(`${authentication}/selfsubjectreviews?dryRun=All`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
    });
  },
  "reviews of access": async (lab) => {
    await allow(lab, "erin", [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] },
    ]);
    const review = (kind: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
      apiVersion: "authorization.k8s.io/v1",
      kind,
      metadata,
      spec,
    });
    for (const resourceAttributes of [
      { namespace: lab.ns, verb: "get", resource: "configmaps" },
      { namespace: lab.ns, verb: "delete", resource: "configmaps" },
      { verb: "get", resource: "configmaps" },
      {
        namespace: lab.ns,
        verb: "list",
        group: "",
        version: "v1",
        resource: "configmaps",
        name: "x",
      },
    ]) {
      await lab.post(
        `${authorization}/subjectaccessreviews`,
        review("SubjectAccessReview", { user: "erin", resourceAttributes }),
      );
    }
    await lab.post(
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", {
        user: "erin",
        nonResourceAttributes: { path: "/version", verb: "get" },
      }),
    );
    await lab.post(
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", {
        groups: ["system:masters"],
        nonResourceAttributes: { path: "/anything", verb: "get" },
      }),
    );
    await lab.post(`${authorization}/subjectaccessreviews`, review("SubjectAccessReview", {}));
    await lab.post(
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", { user: "erin" }),
    );
    await lab.post(
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", {
        user: "erin",
        resourceAttributes: {},
        nonResourceAttributes: {},
      }),
    );
    await lab.post(
      `${authorization}/subjectaccessreviews`,
      review(
        "SubjectAccessReview",
        { user: "erin", resourceAttributes: { verb: "get", resource: "pods" } },
        { name: "named" },
      ),
    );
    await lab.post(
      lab.group("authorization.k8s.io/v1", "localsubjectaccessreviews"),
      review(
        "LocalSubjectAccessReview",
        {
          user: "erin",
          resourceAttributes: { namespace: lab.ns, verb: "get", resource: "configmaps" },
        },
        { namespace: lab.ns },
      ),
    );
    await lab.post(
      lab.group("authorization.k8s.io/v1", "localsubjectaccessreviews"),
      review(
        "LocalSubjectAccessReview",
        {
          user: "erin",
          resourceAttributes: { namespace: "other", verb: "get", resource: "configmaps" },
        },
        { namespace: lab.ns },
      ),
    );
    const erin = await lab.as({ name: "erin" });
    await erin.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("SelfSubjectAccessReview", {
        resourceAttributes: { namespace: lab.ns, verb: "get", resource: "configmaps" },
      }),
    );
    await erin.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("SelfSubjectAccessReview", {
        resourceAttributes: { namespace: lab.ns, verb: "*", resource: "*" },
      }),
    );
    await erin.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("SelfSubjectAccessReview", {}),
    );
    await erin.post(
      `${authorization}/subjectaccessreviews`,
      review("SubjectAccessReview", { user: "erin", resourceAttributes: {} }),
    );
    await erin.post(
      `${authorization}/selfsubjectrulesreviews`,
      review("SelfSubjectRulesReview", { namespace: lab.ns }),
    );
    await erin.post(
      `${authorization}/selfsubjectrulesreviews`,
      review("SelfSubjectRulesReview", {}),
    );
    await lab.post(
      `${authorization}/selfsubjectaccessreviews`,
      review("SelfSubjectAccessReview", {
        resourceAttributes: { verb: "delete", resource: "nodes" },
      }),
    );
  },
};

export const reviewCases = casesOf("reviews", scripts);
