import assert from "node:assert/strict";
import { suite, test } from "node:test";

import {
  cloneJson,
  readJson,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";

import { objectOf, objectsOf } from "../../object/members.ts";
import { printFieldError } from "../../status/field-error.ts";
import { context, objectReader, rules } from "../../testing/ruled-objects.ts";

const read = await objectReader();
const container = { name: "c", image: "i" };

function created(
  kind: string,
  body: JsonObject,
): { object: JsonObject; errors: readonly string[] } {
  const object = read(kind, body);
  rules(kind).prepareForCreate?.(object, context);
  const errors = rules(kind).validate?.(object, context) ?? [];
  return { object, errors: errors.map(printFieldError) };
}

function updated(kind: string, before: JsonObject, after: JsonObject): readonly string[] {
  const old = created(kind, before).object;
  const object = read(kind, after);
  rules(kind).prepareForUpdate?.(object, old, context);
  return (rules(kind).validateUpdate?.(object, old, context) ?? []).map(printFieldError);
}

const pod = (spec: JsonObject = {}): JsonObject => ({ spec: { containers: [container], ...spec } });
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [container] } };
const workload = (spec: JsonObject = {}): JsonObject => ({
  spec: { selector: { matchLabels: { a: "b" } }, template, ...spec },
});

suite("rules of built-in kinds", () => {
  const wrong: readonly {
    readonly kind: string;
    readonly body: JsonObject;
    readonly errors: readonly string[];
  }[] = [
    { kind: "/v1/Pod", body: pod(), errors: [] },
    { kind: "/v1/Pod", body: { spec: {} }, errors: ["spec.containers: Required value"] },
    {
      kind: "/v1/Pod",
      body: pod({
        containers: [{ ...container, resources: { requests: { cpu: "2" }, limits: { cpu: "1" } } }],
      }),
      errors: [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    },
    {
      kind: "/v1/Pod",
      body: pod({ volumes: [{ name: "v", emptyDir: {}, hostPath: { path: "" } }] }),
      errors: ["spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"],
    },
    {
      kind: "apps/v1/Deployment",
      body: workload({ selector: { matchLabels: { a: "c" } }, replicas: -1 }),
      errors: [
        "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        'spec.template.metadata.labels: Invalid value: {"a":"b"}: `selector` does not match template `labels`',
      ],
    },
    {
      kind: "apps/v1/Deployment",
      body: workload({ strategy: { type: "Other" } }),
      errors: [
        'spec.strategy: Unsupported value: {"Type":"Other","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
      ],
    },
    {
      kind: "/v1/Service",
      body: {
        spec: {
          ports: [
            { port: 1, name: "a" },
            { port: 1, name: "b" },
          ],
        },
      },
      errors: [
        'spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP","AppProtocol":null,"Port":1,"TargetPort":0,"NodePort":0}',
      ],
    },
    {
      kind: "/v1/ConfigMap",
      body: { data: { "a/b": "c" }, binaryData: { "..x": "eA==" } },
      errors: [
        `data[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
        `binaryData[..x]: Invalid value: "..x": must not start with '..'`,
      ],
    },
    {
      kind: "/v1/Secret",
      body: { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "nope" } },
      errors: [
        `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'o' in literal null (expecting 'u')`,
      ],
    },
    {
      kind: "batch/v1/CronJob",
      body: { spec: { schedule: "61 * * * *", jobTemplate: { spec: { template } } } },
      errors: [
        'spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61',
        'spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
      ],
    },
    {
      kind: "/v1/PersistentVolumeClaim",
      body: { spec: { accessModes: ["Other"] } },
      errors: [
        'spec.accessModes: Unsupported value: "Other": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        "spec.resources[storage]: Required value",
      ],
    },
  ];
  for (const { kind, body, errors } of wrong) {
    test(`${kind} with ${JSON.stringify(body).slice(0, 80)} is judged`, () => {
      assert.deepEqual(created(kind, body).errors, errors);
    });
  }

  test("a Pod begins pending, with a class of its own", () => {
    const { object } = created("/v1/Pod", pod({ schedulingGates: [{ name: "g" }] }));
    assert.deepEqual(object["status"], {
      phase: "Pending",
      qosClass: "BestEffort",
      conditions: [
        {
          type: "PodScheduled",
          status: "False",
          reason: "SchedulingGated",
          message: "Scheduling is blocked due to non-empty scheduling gates",
          lastProbeTime: null,
          lastTransitionTime: null,
        },
      ],
    });
  });

  test("a Job selects its own Pods", () => {
    const never = { ...template, spec: { ...template.spec, restartPolicy: "Never" } };
    const { object, errors } = created("batch/v1/Job", { spec: { template: never } });
    const own = {
      "batch.kubernetes.io/controller-uid": "u",
      "batch.kubernetes.io/job-name": "x",
      "controller-uid": "u",
      "job-name": "x",
    };
    const spec = object["spec"] as { selector: Json; template: { metadata: { labels: Json } } };
    assert.deepEqual(
      { errors, selector: spec.selector, labels: spec.template.metadata.labels },
      {
        errors: [],
        selector: { matchLabels: { "batch.kubernetes.io/controller-uid": "u" } },
        labels: { a: "b", ...own },
      },
    );
  });

  test("texts of a Secret become bytes", () => {
    const { object } = created("/v1/Secret", {
      data: { a: "eA==" },
      stringData: { a: "ä", b: "" },
    });
    assert.deepEqual(object["data"], { a: "w6Q=", b: "" });
    assert.equal(Object.hasOwn(object, "stringData"), false);
  });

  test("a Namespace is held by Kubernetes and labelled with its name", () => {
    const { object } = created("/v1/Namespace", { metadata: { name: "x" } });
    const { spec, status, metadata } = object as Record<string, JsonObject>;
    assert.deepEqual(
      [spec, status, metadata?.["labels"]],
      [{ finalizers: ["kubernetes"] }, { phase: "Active" }, { "kubernetes.io/metadata.name": "x" }],
    );
  });

  test("a Service that wants no ports of its nodes is given none back", () => {
    const service = (nodePort: JsonObject, allocates: boolean): MutableJsonObject =>
      read("/v1/Service", {
        spec: {
          type: "LoadBalancer",
          allocateLoadBalancerNodePorts: allocates,
          ports: [{ port: 1, ...nodePort }],
        },
      });
    const kept = (allocates: boolean): Json | undefined => {
      const after = service({}, allocates);
      const before = service({ nodePort: 30_001 }, allocates);
      rules("/v1/Service").prepareForUpdate?.(after, before, context);
      return objectsOf(objectOf(after, "spec"), "ports")[0]?.["nodePort"];
    };
    assert.deepEqual([kept(true), kept(false)], [30_001, undefined]);
  });

  const changes: readonly {
    readonly kind: string;
    readonly before: JsonObject;
    readonly after: JsonObject;
    readonly errors: readonly string[];
  }[] = [
    {
      kind: "apps/v1/Deployment",
      before: workload(),
      after: workload({ selector: { matchExpressions: [{ key: "a", operator: "Exists" }] } }),
      errors: [
        'spec.selector: Invalid value: {"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable',
      ],
    },
    {
      kind: "apps/v1/StatefulSet",
      before: workload({ serviceName: "s" }),
      after: workload({ serviceName: "other" }),
      errors: [
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
      ],
    },
    {
      kind: "/v1/Secret",
      before: { immutable: true, data: { a: "eA==" } },
      after: { immutable: true, data: { a: "eQ==" }, type: "other" },
      errors: [
        'type: Invalid value: "other": field is immutable',
        "data: Forbidden: field is immutable when `immutable` is set",
      ],
    },
    {
      kind: "/v1/Pod",
      before: pod({ containers: [{ ...container, resources: { requests: { memory: "1Gi" } } }] }),
      after: pod({
        containers: [
          { ...container, image: "j", resources: { requests: { memory: "1073741824" } } },
        ],
      }),
      errors: [],
    },
    {
      kind: "/v1/Pod",
      before: pod(),
      after: pod({ hostname: "h" }),
      errors: [
        [
          "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
          "@@ -64,7 +64,7 @@",
          '   "SELinuxChangePolicy": null',
          "  },",
          '  "ImagePullSecrets": null,',
          '- "Hostname": "",',
          '+ "Hostname": "h",',
          '  "Subdomain": "",',
          '  "SetHostnameAsFQDN": null,',
          '  "Affinity": null,',
          "",
        ].join("\n"),
      ],
    },
  ];
  for (const { kind, before, after, errors } of changes) {
    test(`a change of ${kind} to ${JSON.stringify(after).slice(0, 80)} is judged`, () => {
      assert.deepEqual(updated(kind, before, after), errors);
    });
  }

  test("warnings name what is right but perhaps not meant", () => {
    const env = [
      { name: "A", value: "1" },
      { name: "A", value: "2" },
    ];
    const object = read(
      "/v1/Pod",
      pod({
        containers: [{ ...container, env }],
        nodeSelector: { "beta.kubernetes.io/os": "linux" },
      }),
    );
    assert.deepEqual(rules("/v1/Pod").warnings?.(object, undefined), [
      'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead',
      'spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply',
    ]);
  });

  test("a new status of a Pod is spoken of, an old one is not", () => {
    const old = created("/v1/Pod", pod()).object;
    const object = cloneJson(old);
    object["status"] = { podIPs: [{ ip: "2001:DB8::1" }] };
    const warnings = rules("/v1/Pod").warnings;
    assert.deepEqual(
      [warnings?.(object, old), warnings?.(old, old)],
      [
        [
          'status.podIPs[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
        ],
        [],
      ],
    );
  });

  test("keys that objects inherit mean nothing", () => {
    const hostile = readJson(
      '{"__proto__":"x","constructor":"y","hasOwnProperty":"z"}',
    ) as JsonObject;
    const { object, errors } = created("/v1/ConfigMap", { data: hostile });
    assert.deepEqual(errors, []);
    assert.deepEqual(Object.keys(object["data"] as JsonObject).sort(), Object.keys(hostile).sort());
    assert.deepEqual(
      created("/v1/Secret", { stringData: hostile }).object["data"],
      readJson('{"__proto__":"eA==","constructor":"eQ==","hasOwnProperty":"eg=="}'),
    );
    assert.deepEqual(created("/v1/Pod", pod({ nodeSelector: hostile })).errors, [
      `spec.nodeSelector: Invalid value: "__proto__": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
    ]);
  });
});
