import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { JsonNumber, jsonEqual, readJson, readJsonReport, writeJson } from "@keelson/base";
import type { Json, JsonObject } from "@keelson/base";

import { loadBuiltinKinds } from "../kinds/builtin-kinds.ts";
import { decodeFailureMessage, strictFailureMessage, TypedDecodeError } from "./decode-error.ts";
import { typedKind, type TypedKind } from "./typed-kind.ts";

const kinds = await loadBuiltinKinds();
const made = new Map<string, TypedKind>();

function kindOf(group: string, version: string, kind: string): TypedKind {
  const key = `${group}/${version}/${kind}`;
  const known = made.get(key) ?? typedKind(kinds, { group, version, kind });
  made.set(key, known);
  return known;
}

const configMap = kindOf("", "v1", "ConfigMap");
const deployment = kindOf("apps", "v1", "Deployment");
const pod = kindOf("", "v1", "Pod");
const secret = kindOf("", "v1", "Secret");

function body(text: string): JsonObject {
  return readJson(text) as JsonObject;
}

suite("decoding", () => {
  test("what is always printed appears, what is zero or null vanishes", () => {
    const { object, unknown } = deployment.decode(
      body(
        `{"metadata":{"creationTimestamp":null,"labels":{},"name":""},"spec":{"paused":false,"minReadySeconds":0,"replicas":0}}`,
      ),
    );
    assert.deepEqual(unknown, []);
    assert.deepEqual(object, {
      kind: "Deployment",
      apiVersion: "apps/v1",
      metadata: {},
      spec: {
        replicas: 0,
        selector: null,
        strategy: {},
        template: { metadata: {}, spec: { containers: null } },
      },
      status: {},
    });
  });

  const texts: readonly (readonly [what: string, kind: TypedKind, sent: string, wanted: string])[] =
    [
      [
        "null in a list of structs is an empty struct",
        pod,
        `{"spec":{"containers":[null]}}`,
        `{"metadata":{},"spec":{"containers":[{"name":"","resources":{}}]},"status":{}}`,
      ],
      [
        "quantities are canonical, numbers too",
        pod,
        `{"spec":{"containers":[],"overhead":{"a":"1000m","b":0.5,"c":"1024Mi","d":1e3}}}`,
        `{"metadata":{},"spec":{"containers":[],"overhead":{"a":"1","b":"500m","c":"1Gi","d":"1e3"}},"status":{}}`,
      ],
      [
        "times are UTC to the second",
        configMap,
        `{"metadata":{"deletionTimestamp":"2026-01-01T01:00:00.9+01:00"}}`,
        `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`,
      ],
      [
        "bytes are base64 in its canonical form, or lists of numbers",
        secret,
        `{"data":{"a":"YR==","b":"YW\\nJj","c":[97,98],"d":null,"e":""}}`,
        `{"data":{"a":"YQ==","b":"YWJj","c":"YWI=","d":null,"e":""},"metadata":{}}`,
      ],
      [
        "64-bit integers are exact",
        configMap,
        `{"metadata":{"generation":9223372036854775807}}`,
        `{"metadata":{"generation":9223372036854775807}}`,
      ],
      [
        "anything is kept where anything goes",
        kindOf("apps", "v1", "ControllerRevision"),
        `{"data":{"x":[1.0,null,{"__proto__":1e3}]},"revision":0}`,
        `{"data":{"x":[1.0,null,{"__proto__":1e3}]},"metadata":{},"revision":0}`,
      ],
    ];
  for (const [what, kind, sent, wanted] of texts) {
    test(what, () => {
      const { apiVersion: _, kind: _kind, ...rest } = kind.decode(body(sent)).object;
      assert.ok(jsonEqual(rest, readJson(wanted)), writeJson(rest));
    });
  }

  const failures: readonly (readonly [kind: TypedKind, sent: string, message: string])[] = [
    [
      deployment,
      `{"spec":{"replicas":"three"}}`,
      "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      deployment,
      `{"spec":{"replicas":1.5}}`,
      "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      deployment,
      `{"spec":{"replicas":1e3}}`,
      "json: cannot unmarshal number 1e3 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      deployment,
      `{"spec":{"replicas":2147483648}}`,
      "json: cannot unmarshal number 2147483648 into Go struct field DeploymentSpec.spec.replicas of type int32",
    ],
    [
      configMap,
      `{"metadata":{"generation":18446744073709551616}}`,
      "json: cannot unmarshal number 18446744073709551616 into Go struct field ObjectMeta.metadata.generation of type int64",
    ],
    [
      configMap,
      `{"data":[]}`,
      "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string",
    ],
    [
      configMap,
      `{"metadata":{"uid":{}}}`,
      "json: cannot unmarshal object into Go struct field ObjectMeta.metadata.uid of type types.UID",
    ],
    [
      pod,
      `{"spec":{"volumes":[{"hostPath":true}]}}`,
      "json: cannot unmarshal bool into Go struct field Volume.spec.volumes.VolumeSource.hostPath of type v1.HostPathVolumeSource",
    ],
    [
      pod,
      `{"spec":{"restartPolicy":1,"containers":[{"resources":{"limits":{"cpu":"x"}}}]}}`,
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    [
      configMap,
      `{"metadata":{"deletionTimestamp":"yesterday"}}`,
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
    ],
    [
      configMap,
      `{"metadata":{"deletionTimestamp":5}}`,
      "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.deletionTimestamp of type string",
    ],
    [secret, `{"data":{"a":"*"}}`, "illegal base64 data at input byte 0"],
    [secret, `{"data":{"a":"YWI"}}`, "illegal base64 data at input byte 0"],
    [
      secret,
      `{"data":{"a":"YWJjYQ=="}, "type":[]}`,
      "json: cannot unmarshal array into Go struct field Secret.type of type v1.SecretType",
    ],
  ];
  for (const [kind, sent, message] of failures) {
    test(`${sent} is refused: ${message}`, () => {
      assert.throws(
        () => kind.decode(body(sent)),
        (error) => error instanceof TypedDecodeError && error.message === message,
      );
    });
  }

  test("the first wrong type counts, unless something worse follows", () => {
    const sent = body(`{"spec":{"replicas":"a","paused":"b"}}`);
    assert.throws(() => deployment.decode(sent), /DeploymentSpec\.spec\.replicas/);
    const worse = body(`{"spec":{"replicas":"a"},"metadata":{"creationTimestamp":"b"}}`);
    assert.throws(() => deployment.decode(worse), /^TypedDecodeError: parsing time/);
  });

  test("unknown and duplicate fields are told in the order of the text, as strict decoding does", () => {
    const text = `{"x":1,"spec":{"replicas":1,"y":{"z":1,"z":2},"replicas":2,"template":{"metadata":{"labels":{"a":"1","a":"2"}},"spec":{"containers":[{"name":"a","foo":1}]}}},"Spec":{}}`;
    const report = readJsonReport(text);
    const { unknown, problems } = deployment.decode(report.value as JsonObject, report);
    assert.deepEqual(unknown, ["x", "spec.y", "spec.template.spec.containers[0].foo", "Spec"]);
    assert.deepEqual(problems, [
      'unknown field "x"',
      'unknown field "spec.y"',
      'duplicate field "spec.replicas"',
      'duplicate field "spec.template.metadata.labels.a"',
      'unknown field "spec.template.spec.containers[0].foo"',
      'unknown field "Spec"',
    ]);
    assert.equal(
      strictFailureMessage(problems.slice(0, 3), { kind: "Deployment", version: "v1" }),
      'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "x", unknown field "spec.y", duplicate field "spec.replicas"',
    );
  });

  test("a refusal says what could not be handled", () => {
    const error = new TypedDecodeError("illegal base64 data at input byte 0");
    assert.equal(
      decodeFailureMessage(error, { kind: "Secret", version: "v1" }),
      'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
    );
  });

  test("the bodies of subresources, and options, have types too", () => {
    const request = kindOf("authentication.k8s.io", "v1", "TokenRequest").decode({}).object;
    kindOf("authentication.k8s.io", "v1", "TokenRequest").applyDefaults(request, { now: "" });
    assert.deepEqual(request["spec"], {
      audiences: null,
      boundObjectRef: null,
      expirationSeconds: 3600,
    });
    assert.deepEqual(
      kindOf("autoscaling", "v1", "Scale").decode({ spec: { replicas: 0 } }).object,
      {
        kind: "Scale",
        apiVersion: "autoscaling/v1",
        metadata: {},
        spec: {},
        status: { replicas: 0 },
      },
    );
    const options = kindOf("apps", "v1", "DeleteOptions");
    assert.deepEqual(options.decode({ gracePeriodSeconds: 0, x: 1 }), {
      object: { kind: "DeleteOptions", apiVersion: "apps/v1", gracePeriodSeconds: 0 },
      unknown: ["x"],
      problems: ['unknown field "x"'],
    });
  });

  test("a kind that is not built in has no types", () => {
    assert.throws(
      () => typedKind(kinds, { group: "example.com", version: "v1", kind: "Thing" }),
      RangeError,
    );
  });
});

suite("decoding what means harm", () => {
  test("__proto__ is a key like any other, or an unknown field", () => {
    const sent = body(
      `{"__proto__":{"polluted":true},"metadata":{"labels":{"__proto__":"a","constructor":"b"}},"data":{"__proto__":"c"}}`,
    );
    const { object, unknown } = configMap.decode(sent);
    assert.deepEqual(unknown, ["__proto__"]);
    assert.equal(
      writeJson(object),
      '{"metadata":{"labels":{"__proto__":"a","constructor":"b"}},"data":{"__proto__":"c"},"kind":"ConfigMap","apiVersion":"v1"}',
    );
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  test("depth does not overflow the stack", () => {
    const depth = 500;
    const nested = `${'{"properties":{"a":'.repeat(depth / 2)}{}${"}}".repeat(depth / 2)}`;
    const text = `{"spec":{"versions":[{"schema":{"openAPIV3Schema":${nested}}}]}}`;
    const definition = kindOf("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
    const value = readJson(text, { depthMax: 2_000 }) as JsonObject;
    const { object } = definition.decode(value);
    definition.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
    assert.equal(writeJson(object).includes(nested), true);
    const raw = kindOf("apps", "v1", "ControllerRevision");
    const arrays = "[".repeat(100_000) + "]".repeat(100_000);
    const deep = readJson(`{"data":${arrays},"revision":1}`, { depthMax: 200_000 }) as JsonObject;
    assert.equal(writeJson(raw.decode(deep).object["data"] ?? null), arrays);
  });

  test("numbers of any size are refused without computing them", () => {
    const huge = new JsonNumber("9".repeat(1_000_000));
    assert.throws(() => deployment.decode({ spec: { replicas: huge } }), TypedDecodeError);
    assert.throws(
      () => pod.decode({ spec: { overhead: { cpu: huge } } }),
      (error) => error instanceof TypedDecodeError,
    );
    assert.throws(() => pod.decode({ spec: { overhead: { cpu: new JsonNumber("1e999999999") } } }));
  });

  test("half a surrogate pair becomes the replacement character", () => {
    const { object, unknown } = configMap.decode({ data: { "\ud800": "a\udc00" }, "\udbff": 1 });
    assert.deepEqual(object["data"], { "\ufffd": "a\ufffd" });
    assert.deepEqual(unknown, ["\ufffd"]);
  });

  test("a thousand unknown fields are a hundred problems", () => {
    const fields = Array.from({ length: 1_000 }, (_, n) => [`x${n}`, 1] as const);
    const { object, problems } = configMap.decode(Object.fromEntries(fields));
    assert.equal(problems.length, 100);
    assert.deepEqual(object, { kind: "ConfigMap", apiVersion: "v1", metadata: {} });
  });

  test("what was sent is neither changed nor shared", () => {
    const sent: JsonObject = body(
      `{"metadata":{"labels":{"a":"b"}},"data":{"x":{"y":[1]}},"revision":1}`,
    );
    const before = writeJson(sent);
    const kind = kindOf("apps", "v1", "ControllerRevision");
    const { object } = kind.decode(sent);
    kind.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
    const shared = sharedWith(object, sent);
    assert.deepEqual([writeJson(sent), shared], [before, []]);
  });
});

function sharedWith(value: Json, other: Json): readonly Json[] {
  const containers = (json: Json): Json[] =>
    typeof json === "object" && json !== null && !(json instanceof JsonNumber)
      ? [json, ...Object.values(json).flatMap(containers)]
      : [];
  const others = new Set(containers(other));
  return containers(value).filter((one) => others.has(one));
}
