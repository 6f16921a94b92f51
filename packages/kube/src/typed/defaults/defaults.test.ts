import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import defaults from "../../kinds/data/defaults.json" with { type: "json" };
import { loadBuiltinKinds } from "../../kinds/builtin-kinds.ts";
import { TypedDecodeError } from "../decode-error.ts";
import { typedKind } from "../typed-kind.ts";
import { defaultRules } from "./default-rules.ts";
import { imageTag } from "./image-tag.ts";

const kinds = await loadBuiltinKinds();

/** What an object becomes; `path` picks a part of it. */
function defaulted(name: string, sent: JsonObject, path: string): Json | undefined {
  const [group = "", version = "", kind = ""] = name.split("/");
  const typed = typedKind(kinds, { group, version, kind });
  const { object } = typed.decode(sent);
  typed.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
  let part: Json | undefined = object;
  for (const step of path.split(".")) {
    part = isJsonObject(part) || Array.isArray(part) ? (part as JsonObject)[step] : undefined;
  }
  return part;
}

suite("defaults", () => {
  test("whatever the data says of one field and its value, a rule knows", () => {
    const unknown = Object.entries(defaults).flatMap(([place, entry]) => {
      const { when = [] } = entry as {
        when?: readonly { added: Readonly<Record<string, Json>> }[];
      };
      const owned = new Set(defaultRules.get(place)?.owns);
      const fields = new Set(when.flatMap(({ added }) => Object.keys(added)));
      return [...fields].filter((field) => !owned.has(field)).map((field) => `${place}.${field}`);
    });
    assert.deepEqual(unknown, [
      // Done for the whole pod, in the order of the real server.
      "/v1/Pod.spec.containers[].resources.requests",
      "/v1/Pod.spec.initContainers[].resources.requests",
      // Done for the whole definition.
      "apiextensions.v1.CustomResourceDefinitionNames.listKind",
      "apiextensions.v1.CustomResourceDefinitionNames.singular",
    ]);
  });

  const deployment = (strategy: JsonObject): JsonObject => ({ spec: { strategy } });
  const service = (spec: JsonObject): JsonObject => ({ spec: { ports: [{ port: 80 }], ...spec } });
  const resources = { limits: { cpu: "2", memory: "1Gi" }, requests: { cpu: "0.0001" } };
  const table: readonly (readonly [
    name: string,
    sent: JsonObject,
    path: string,
    wanted: Json | undefined,
  ])[] = [
    ["apps/v1/Deployment", {}, "spec.replicas", 1],
    [
      "apps/v1/Deployment",
      deployment({}),
      "spec.strategy",
      { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
    ],
    [
      "apps/v1/Deployment",
      deployment({ rollingUpdate: { maxSurge: 0 } }),
      "spec.strategy.rollingUpdate",
      { maxSurge: 0, maxUnavailable: "25%" },
    ],
    ["apps/v1/Deployment", deployment({ type: "Recreate" }), "spec.strategy", { type: "Recreate" }],
    [
      "apps/v1/DaemonSet",
      {},
      "spec.updateStrategy",
      { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    ],
    [
      "apps/v1/StatefulSet",
      {},
      "spec.updateStrategy",
      { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
    ],
    [
      "apps/v1/StatefulSet",
      { spec: { updateStrategy: { type: "RollingUpdate" } } },
      "spec.updateStrategy",
      { type: "RollingUpdate" },
    ],
    ["/v1/Service", service({}), "spec.ports.0", { port: 80, protocol: "TCP", targetPort: 80 }],
    ["/v1/Service", service({ type: "LoadBalancer" }), "spec.allocateLoadBalancerNodePorts", true],
    ["/v1/Service", service({ type: "ExternalName" }), "spec.internalTrafficPolicy", undefined],
    [
      "/v1/Service",
      service({ sessionAffinity: "ClientIP" }),
      "spec.sessionAffinityConfig",
      { clientIP: { timeoutSeconds: 10_800 } },
    ],
    [
      "/v1/Service",
      service({ externalIPs: ["192.0.2.1"] }),
      "spec.externalTrafficPolicy",
      "Cluster",
    ],
    [
      "/v1/Pod",
      { spec: { containers: [{ name: "a", image: "nginx" }] } },
      "spec.containers.0.imagePullPolicy",
      "Always",
    ],
    [
      "/v1/Pod",
      { spec: { containers: [{ name: "a", resources }] } },
      "spec.containers.0.resources.requests",
      { cpu: "1m", memory: "1Gi" },
    ],
    [
      "apps/v1/Deployment",
      { spec: { template: { spec: { containers: [{ name: "a", resources }] } } } },
      "spec.template.spec.containers.0.resources.requests",
      { cpu: "1m" },
    ],
    [
      "/v1/Pod",
      { spec: { hostNetwork: true, containers: [{ name: "a", ports: [{ containerPort: 80 }] }] } },
      "spec.containers.0.ports.0.hostPort",
      80,
    ],
    [
      "/v1/Pod",
      { spec: { containers: [], volumes: [{ name: "v" }] } },
      "spec.volumes.0",
      { name: "v", emptyDir: {} },
    ],
    [
      "/v1/Pod",
      { spec: { containers: [], serviceAccount: "old" } },
      "spec.serviceAccountName",
      "old",
    ],
    [
      "/v1/Secret",
      { stringData: { a: "b" }, data: { a: "YQ==", c: "" } },
      "data",
      { a: "Yg==", c: "" },
    ],
    [
      "/v1/Namespace",
      { metadata: { name: "n" } },
      "metadata.labels",
      { "kubernetes.io/metadata.name": "n" },
    ],
    [
      "/v1/LimitRange",
      { spec: { limits: [{ type: "Container", max: { cpu: "2" }, min: { memory: "1" } }] } },
      "spec.limits.0.defaultRequest",
      { cpu: "2", memory: "1" },
    ],
    ["batch/v1/Job", { spec: { parallelism: 2 } }, "spec.completions", undefined],
    ["batch/v1/Job", { spec: { backoffLimitPerIndex: 1 } }, "spec.backoffLimit", 2_147_483_647],
    [
      "networking.k8s.io/v1/NetworkPolicy",
      { spec: { egress: [{}] } },
      "spec.policyTypes",
      ["Ingress", "Egress"],
    ],
    [
      "rbac.authorization.k8s.io/v1/RoleBinding",
      { subjects: [{ kind: "User", name: "u" }] },
      "subjects.0.apiGroup",
      "rbac.authorization.k8s.io",
    ],
    [
      "apiextensions.k8s.io/v1/CustomResourceDefinition",
      { spec: { names: { kind: "Thing" }, versions: [{ name: "v1", storage: true }] } },
      "spec.names",
      { kind: "Thing", plural: "", listKind: "ThingList", singular: "thing" },
    ],
    [
      "apiextensions.k8s.io/v1/CustomResourceDefinition",
      { spec: { versions: [{ name: "v1", storage: true }] } },
      "status.storedVersions",
      ["v1"],
    ],
    ["autoscaling/v1/HorizontalPodAutoscaler", {}, "spec.targetCPUUtilizationPercentage", 80],
  ];
  for (const [name, sent, path, wanted] of table) {
    test(`${name} ${JSON.stringify(sent)}: ${path} is ${JSON.stringify(wanted)}`, () => {
      assert.deepEqual(defaulted(name, sent, path), wanted);
    });
  }

  test("an annotation that the server keeps as a number must be one", () => {
    const annotations = { "deprecated.daemonset.template.generation": "x" };
    assert.throws(
      () => defaulted("apps/v1/DaemonSet", { metadata: { annotations } }, "metadata"),
      (error) =>
        error instanceof TypedDecodeError &&
        error.message === 'strconv.ParseInt: parsing "x": invalid syntax',
    );
  });

  for (const [image, tag] of [
    ["nginx", "latest"],
    ["nginx:1.2", "1.2"],
    ["localhost:5000/a", "latest"],
    ["registry.example.com/a/b:c", "c"],
    [`nginx@sha256:${"a".repeat(64)}`, undefined],
    ["Nginx", undefined],
    ["a:b:c", undefined],
    ["", undefined],
    [`${"a/".repeat(500_000)}b`, undefined],
  ] as const) {
    test(`the tag of ${image.slice(0, 40)} is ${tag ?? "none"}`, () => {
      assert.equal(imageTag(image), tag);
    });
  }
});
