import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { isJsonObject, type Json, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { printFieldError } from "../../status/field-error.ts";
import { context, objectReader, rules } from "../../testing/ruled-objects.ts";

const read = await objectReader();

function created(kind: string, body: JsonObject): MutableJsonObject {
  const object = read(kind, body);
  rules(kind).prepareForCreate?.(object, context);
  return object;
}

function errorsOf(kind: string, body: JsonObject): readonly string[] {
  const errors = rules(kind).validate?.(created(kind, body), context) ?? [];
  return errors.map(printFieldError);
}

function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return value !== undefined && isJsonObject(value) ? at(value[name], ...rest) : undefined;
}

suite("taints in an annotation", () => {
  const key = "scheduler.alpha.kubernetes.io/taints";
  const node = (text: string): readonly string[] =>
    errorsOf("/v1/Node", { metadata: { name: "x", annotations: { [key]: text } } });
  const wrong = [
    ["[1]", "json: cannot unmarshal number into Go value of type core.Taint"],
    ['[{"key":1}]', "json: cannot unmarshal number into Go struct field Taint.Key of type string"],
    [
      '[{"KEY":"a","effect":[]},1]',
      "json: cannot unmarshal array into Go struct field Taint.Effect of type core.TaintEffect",
    ],
    [
      '[{"key":1,"timeAdded":"x"}]',
      'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ],
    [
      '[1,{"timeAdded":1}]',
      "json: cannot unmarshal number into Go struct field Taint.TimeAdded of type string",
    ],
    ["{}", "json: cannot unmarshal object into Go value of type []core.Taint"],
    ["nope", "invalid character 'o' in literal null (expecting 'u')"],
  ] as const;
  for (const [text, problem] of wrong) {
    test(`${text} cannot be read`, () => {
      assert.deepEqual(node(text), [
        `metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/taints": ${problem}`,
      ]);
    });
  }

  test("nothing is a taint of nothing", () => {
    assert.deepEqual(node("[null]"), node("[{}]"));
    assert.notDeepEqual(node("[null]"), []);
  });

  test("names are read whatever their case, and nothing takes no value back", () => {
    const taint = '{"Key":"a","EFFECT":"NoSchedule","timeadded":"2026-01-01T00:00:00Z","key":null}';
    assert.deepEqual(node(`[${taint}]`), []);
    assert.deepEqual(node(`[${taint},${taint}]`), [
      'metadata.annotations.scheduler.alpha.kubernetes.io/taints[1]: Duplicate value: {"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":"2026-01-01T00:00:00Z"}: taints must be unique by key and effect pair',
    ]);
  });
});

suite("tolerations in an annotation", () => {
  const key = "scheduler.alpha.kubernetes.io/tolerations";
  const pod = (text: string): readonly string[] =>
    errorsOf("/v1/Pod", {
      metadata: { name: "x", namespace: "n", uid: "u", annotations: { [key]: text } },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
  const seconds = (text: string): string =>
    `[{"operator":"Exists","effect":"NoExecute","tolerationSeconds":${text}}]`;
  const wrong = [
    ["[1]", "json: cannot unmarshal number into Go value of type core.Toleration"],
    [
      '[{"Key":1,"operator":"Exists"}]',
      "json: cannot unmarshal number into Go struct field Toleration.Key of type string",
    ],
    [
      seconds("1.0"),
      "json: cannot unmarshal number 1.0 into Go struct field Toleration.TolerationSeconds of type int64",
    ],
    [
      seconds("9223372036854775808"),
      "json: cannot unmarshal number 9223372036854775808 into Go struct field Toleration.TolerationSeconds of type int64",
    ],
  ] as const;
  for (const [text, problem] of wrong) {
    test(`${text} cannot be read`, () => {
      assert.deepEqual(pod(text), [
        `metadata.annotations: Invalid value: "scheduler.alpha.kubernetes.io/tolerations": ${problem}`,
      ]);
    });
  }

  test("nothing is a toleration of nothing", () => {
    assert.deepEqual(pod("[null]"), pod("[{}]"));
    assert.equal(pod("[null]").length, 1);
  });

  test("seconds are of 64 bits", () => {
    for (const text of ["1", "-0", "9223372036854775807", "null"]) {
      assert.deepEqual(pod(seconds(text)), []);
    }
  });
});

suite("Pods that avoid a Node, in an annotation", () => {
  const key = "scheduler.alpha.kubernetes.io/preferAvoidPods";
  const node = (text: string): readonly string[] =>
    errorsOf("/v1/Node", { metadata: { name: "x", annotations: { [key]: text } } });
  const entry = (controller: string): string =>
    `{"preferAvoidPods":[{"podSignature":{"podController":${controller}}}]}`;
  const unreadable = `metadata.annotations.AvoidPods: Invalid value: "${key}": `;
  const first = `metadata.annotations.${key}[0].PodSignature`;
  const wrong = [
    ["[]", `${unreadable}json: cannot unmarshal array into Go value of type v1.AvoidPods`],
    [
      entry('{"uid":1}'),
      `${unreadable}json: cannot unmarshal number into Go struct field OwnerReference.preferAvoidPods.podSignature.podController.uid of type types.UID`,
    ],
    [entry("null"), `${first}: Required value`],
    [
      entry('{"controller":false}'),
      `${first}.PodController.Controller: Invalid value: false: must point to a controller`,
    ],
    // Kubernetes panics.
    [
      entry("{}"),
      `${first}.PodController.Controller: Invalid value: false: must point to a controller`,
    ],
  ] as const;
  for (const [text, problem] of wrong) {
    test(`${text} is refused`, () => assert.deepEqual(node(text), [problem]));
  }

  test("those of a controller are right, and so is nothing", () => {
    for (const text of ["", "null", "{}", entry('{"controller":true}')]) {
      assert.deepEqual(node(text), []);
    }
  });
});

suite("texts as Go reads and shows them", () => {
  const podErrors = (container: JsonObject, annotations: JsonObject = {}): readonly string[] =>
    errorsOf("/v1/Pod", {
      metadata: { name: "x", namespace: "n", uid: "u", annotations },
      spec: { containers: [{ name: "c", image: "i", ...container }] },
    });

  test("images and profiles are padded by Go's white space alone", () => {
    const profile = (localhostProfile: string): JsonObject => ({
      securityContext: { appArmorProfile: { type: "Localhost", localhostProfile } },
    });
    for (const container of [{ image: "\u0085i" }, profile("x\u0085")]) {
      assert.equal(podErrors(container).length, 1);
    }
    for (const container of [{ image: "i\ufeff" }, profile("\ufeff")]) {
      assert.deepEqual(podErrors(container), []);
    }
  });

  test("a profile of an annotation is shown as Go quotes it", () => {
    const key = "container.apparmor.security.beta.kubernetes.io/c";
    assert.deepEqual(podErrors({}, { [key]: "a\u007f\u2028" }), [
      String.raw`metadata.annotations[${key}]: Invalid value: "a\x7f\u2028": invalid AppArmor profile name: "a\x7f\u2028"`,
    ]);
  });

  test("the source ranges of a Service are trimmed of Go's white space", () => {
    const service = (range: string): readonly string[] =>
      errorsOf("/v1/Service", {
        spec: { type: "LoadBalancer", ports: [{ port: 1 }], loadBalancerSourceRanges: [range] },
      });
    assert.deepEqual(service("\u008510.0.0.0/8\u0085"), []);
    assert.equal(service("\ufeff10.0.0.0/8").length, 1);
  });

  test("a format that nobody knows is shown as Go quotes it", () => {
    const definition = read("apiextensions.k8s.io/v1/CustomResourceDefinition", {
      spec: {
        group: "a.b",
        scope: "Cluster",
        names: { kind: "C", plural: "cs" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "string", format: "a\u007f\u2028" } },
          },
        ],
      },
    });
    const { warnings } = rules("apiextensions.k8s.io/v1/CustomResourceDefinition");
    assert.deepEqual(
      [...(warnings?.(definition, undefined) ?? [])],
      [String.raw`unrecognized format "a\x7f\u2028"`],
    );
  });
});

test("the seconds of a token are of 64 bits, and shown as they are", () => {
  const expirationSeconds = 2n ** 53n + 1n;
  const bodies: readonly (readonly [kind: string, place: string, spec: JsonObject])[] = [
    [
      "/v1/Pod",
      "spec.volumes[0].projected.sources[0].serviceAccountToken",
      {
        serviceAccountName: "s",
        containers: [{ name: "c", image: "i" }],
        volumes: [
          {
            name: "v",
            projected: { sources: [{ serviceAccountToken: { path: "p", expirationSeconds } }] },
          },
        ],
      },
    ],
    [
      "storage.k8s.io/v1/CSIDriver",
      "spec.tokenRequests[0]",
      { tokenRequests: [{ audience: "a", expirationSeconds }] },
    ],
    ["authentication.k8s.io/v1/TokenRequest", "spec", { expirationSeconds }],
  ];
  for (const [kind, place, spec] of bodies) {
    assert.deepEqual(errorsOf(kind, { spec }), [
      `${place}.expirationSeconds: Invalid value: 9007199254740993: may not specify a duration larger than 2^32 seconds`,
    ]);
  }
});

suite("a number of 64 bits is shown as it is", () => {
  const less = -(2n ** 53n) - 1n;
  const cases: readonly (readonly [kind: string, spec: JsonObject, path: string])[] = [
    [
      "/v1/Pod",
      { containers: [{ name: "c", image: "i" }], activeDeadlineSeconds: less },
      "spec.activeDeadlineSeconds",
    ],
    [
      "/v1/Pod",
      {
        containers: [
          { name: "c", image: "i", lifecycle: { preStop: { sleep: { seconds: less } } } },
        ],
      },
      "spec.containers[0].lifecycle.preStop.sleep",
    ],
    [
      "storage.k8s.io/v1/CSIDriver",
      { nodeAllocatableUpdatePeriodSeconds: less },
      "spec.nodeAllocatableUpdatePeriodSeconds",
    ],
    [
      "resource.k8s.io/v1/ResourceClaim",
      {
        devices: {
          requests: [
            {
              name: "r",
              exactly: { deviceClassName: "d", allocationMode: "ExactCount", count: less },
            },
          ],
        },
      },
      "spec.devices.requests[0].exactly.count",
    ],
    [
      "resource.k8s.io/v1/ResourceSlice",
      {
        driver: "d",
        nodeName: "n",
        pool: { name: "p", generation: less, resourceSliceCount: 1 },
      },
      "spec.pool.generation",
    ],
    [
      "resource.k8s.io/v1/ResourceSlice",
      { driver: "d", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: less } },
      "spec.pool.resourceSliceCount",
    ],
  ];
  for (const [kind, spec, path] of cases) {
    test(`${path} of ${kind}`, () => {
      const shown = errorsOf(kind, { spec }).map((error) => error.split(": ").slice(0, 3));
      assert.deepEqual(shown, [[path, "Invalid value", "-9007199254740993"]]);
    });
  }

  test("a new deadline of a Pod", () => {
    const pod = (activeDeadlineSeconds: bigint): MutableJsonObject =>
      created("/v1/Pod", {
        spec: { containers: [{ name: "c", image: "i" }], activeDeadlineSeconds },
      });
    const errors = rules("/v1/Pod").validateUpdate?.(pod(less), pod(1n), context) ?? [];
    assert.deepEqual(
      errors.map((error) => printFieldError(error).split(": ").slice(0, 3)),
      Array.from({ length: errors.length }, () => [
        "spec.activeDeadlineSeconds",
        "Invalid value",
        "-9007199254740993",
      ]),
    );
    assert.notEqual(errors.length, 0);
  });
});

suite("the generation of a DaemonSet's template", () => {
  const key = "deprecated.daemonset.template.generation";
  const set = (generation: string, image = "i"): JsonObject => ({
    metadata: { name: "x", namespace: "n", annotations: { [key]: generation } },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: {
        metadata: { labels: { a: "b" } },
        spec: { containers: [{ name: "c", image }] },
      },
    },
  });
  const generationOf = (object: JsonObject): Json | undefined =>
    at(object, "metadata", "annotations", key);

  test("has 64 bits", () => {
    const before = created("apps/v1/DaemonSet", set("9007199254740993"));
    assert.equal(generationOf(before), "9007199254740993");
    const after = read("apps/v1/DaemonSet", set("1", "j"));
    rules("apps/v1/DaemonSet").prepareForUpdate?.(after, before, context);
    assert.equal(generationOf(after), "9007199254740994");
  });

  test("is as large as an integer can be, and then goes round, which is refused", () => {
    const before = created("apps/v1/DaemonSet", set("9223372036854775807"));
    assert.equal(generationOf(before), "9223372036854775807");
    const after = read("apps/v1/DaemonSet", set("1", "j"));
    rules("apps/v1/DaemonSet").prepareForUpdate?.(after, before, context);
    const errors = rules("apps/v1/DaemonSet").validateUpdate?.(after, before, context) ?? [];
    assert.deepEqual(errors.map(printFieldError), [
      "spec.templateGeneration: Invalid value: -9223372036854775808: must not be decremented",
      "spec.templateGeneration: Invalid value: -9223372036854775808: must be greater than or equal to 0",
    ]);
  });
});
