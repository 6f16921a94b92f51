import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { jsonEqual, seededRandom, setMember, writeJson } from "@keelson/base";
import type { MutableJson, MutableJsonObject, Random } from "@keelson/base";
import { loadBuiltinKinds, loadKindExamples } from "../kinds/builtin-kinds.ts";
import type { FieldType } from "../kinds/go-struct.ts";
import { ProtobufCodec } from "./codec.ts";
import { isProtobuf, readEnvelope, writeEnvelope } from "./envelope.ts";
import { ProtobufError } from "./protobuf-error.ts";

const kinds = await loadBuiltinKinds();
const examples = await loadKindExamples();
const codec = new ProtobufCodec(kinds);

suite("protobuf", () => {
  test("what the oracle wrote is read as its own JSON, for every kind", () => {
    assert.ok(Object.keys(examples).length > 60);
    for (const [name, { got, protobuf }] of Object.entries(examples)) {
      const decoded = codec.decode(Uint8Array.from(Buffer.from(protobuf, "base64")));
      assert.ok(jsonEqual(decoded, got), `${name}\n${writeJson(decoded)}\n${writeJson(got)}`);
    }
  });

  test("what we write we read again, for every kind", () => {
    for (const [name, { got }] of Object.entries(examples)) {
      const again = codec.decode(codec.encode(got));
      assert.ok(jsonEqual(again, got), `${name}\n${writeJson(again)}\n${writeJson(got)}`);
    }
  });

  test("objects with anything in them survive, for every kind", () => {
    for (const kind of kinds.all) {
      const random = seededRandom(`protobuf/${kind.type}`);
      for (let round = 0; round < 5; round++) {
        const apiVersion = kind.group === "" ? kind.version : `${kind.group}/${kind.version}`;
        const fields = randomStruct(random, kind.type, 6);
        // Once through is what is printed; from then on nothing changes.
        const printed = codec.decode(codec.encode({ ...fields, apiVersion, kind: kind.kind }));
        const again = codec.decode(codec.encode(printed));
        assert.ok(
          jsonEqual(again, printed),
          `${kind.kind}\n${writeJson(again)}\n${writeJson(printed)}`,
        );
        const lost = Object.keys(fields).filter((name) => !Object.hasOwn(printed, name));
        assert.deepEqual(
          lost.filter((name) => name !== "apiVersion" && name !== "kind"),
          [],
        );
      }
    }
  });

  test("lists and options have their own types", () => {
    assert.equal(codec.typeOf("v1", "PodList"), "core.v1.PodList");
    assert.equal(codec.typeOf("apps/v1", "DeleteOptions"), "meta.v1.DeleteOptions");
    assert.equal(codec.typeOf("example.com/v1", "Custom"), undefined);
    const list = {
      kind: "PodList",
      apiVersion: "v1",
      metadata: { resourceVersion: "1" },
      items: [],
    };
    assert.deepEqual(codec.decode(codec.encode(list))["metadata"], { resourceVersion: "1" });
  });

  const specials: readonly [name: string, object: MutableJsonObject][] = [
    [
      "a 64-bit integer",
      { apiVersion: "v1", kind: "ConfigMap", metadata: { generation: 2n ** 62n } },
    ],
    [
      "a micro time",
      {
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: {},
        spec: { renewTime: "2026-01-02T03:04:05.123456Z" },
      },
    ],
    [
      "a time before 1970",
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { creationTimestamp: "1960-01-02T03:04:05Z" },
      },
    ],
    [
      "bytes",
      { apiVersion: "v1", kind: "Secret", metadata: {}, data: { a: "AAEC/w==", empty: "" } },
    ],
  ];
  for (const [name, object] of specials) {
    test(`${name} survives`, () => {
      const again = codec.decode(codec.encode(object));
      for (const [key, value] of Object.entries(object)) {
        assert.ok(jsonEqual(again[key] ?? null, value), writeJson(again));
      }
    });
  }

  test("bytes that make no sense are a typed error", () => {
    const good = codec.encode({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "a" },
      data: { a: "Yg==" },
    });
    assert.ok(isProtobuf(good));
    assert.throws(() => codec.decode(new Uint8Array([1, 2, 3])), ProtobufError);
    for (let length = 4; length < good.length; length++) {
      try {
        codec.decode(good.subarray(0, length));
      } catch (error) {
        assert.ok(error instanceof ProtobufError, String(error));
      }
    }
    const random = seededRandom("noise");
    for (let round = 0; round < 500; round++) {
      const noisy = Uint8Array.from(good);
      noisy[4 + random.integer(noisy.length - 4)] = random.integer(256);
      try {
        codec.decode(noisy);
      } catch (error) {
        assert.ok(error instanceof ProtobufError, String(error));
      }
    }
  });

  test("a map that travels as something else is a typed error", () => {
    // Field 2, `data`, as a number: 4, which would do as the length of what follows.
    const raw = Uint8Array.from([0x10, 0x04, 0x0a, 0x02, 0x61, 0x62]);
    const body = writeEnvelope({ apiVersion: "v1", kind: "ConfigMap", raw });
    assert.throws(() => codec.decode(body), /wire type 0/);
  });

  test("fractions of a second that are none move the seconds", () => {
    const timeOf = (nanos: number): unknown => {
      const time = new BinaryWriter().tag(1, 0).int64(1).tag(2, 0).int32(nanos).finish();
      // `renewTime` of the spec of a Lease.
      const raw = wrapped(2, wrapped(4, time));
      const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease" };
      const { spec } = codec.decode(writeEnvelope({ ...lease, raw }));
      return (spec as MutableJsonObject)["renewTime"];
    };
    assert.equal(timeOf(999_999_999), "1970-01-01T00:00:01.999999Z");
    assert.equal(timeOf(1_500_000_000), "1970-01-01T00:00:02.500000Z");
    assert.equal(timeOf(-1_000_000), "1970-01-01T00:00:00.999000Z");
    assert.equal(timeOf(-1_500_000_000), "1969-12-31T23:59:59.500000Z");
  });

  test("values that do not fit their field are a typed error", () => {
    const wrong = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: {},
      spec: { replicas: "three" },
    };
    assert.throws(() => codec.encode(wrong), ProtobufError);
    assert.throws(() => codec.encode({ apiVersion: "v1", kind: "Nothing" }), ProtobufError);
  });

  test("messages nested without end are refused", () => {
    const numberOf = (type: string, name: string): number =>
      kinds.structOf(type)?.fields.find((field) => field.name === name)?.number ??
      assert.fail(name);
    const props = "apiextensions.v1.JSONSchemaProps";
    let raw: Uint8Array = new Uint8Array();
    for (let level = 0; level < 2_000; level++) raw = wrapped(numberOf(props, "not"), raw);
    const path: readonly (readonly [type: string, name: string])[] = [
      ["apiextensions.v1.CustomResourceValidation", "openAPIV3Schema"],
      ["apiextensions.v1.CustomResourceDefinitionVersion", "schema"],
      ["apiextensions.v1.CustomResourceDefinitionSpec", "versions"],
      ["apiextensions.v1.CustomResourceDefinition", "spec"],
    ];
    for (const [type, name] of path) raw = wrapped(numberOf(type, name), raw);
    const apiVersion = "apiextensions.k8s.io/v1";
    const body = writeEnvelope({ apiVersion, kind: "CustomResourceDefinition", raw });
    assert.equal(readEnvelope(body).kind, "CustomResourceDefinition");
    assert.throws(() => codec.decode(body), /nested more than 512 deep/);
  });
});

/** A message with one field that holds bytes. */
function wrapped(number: number, bytes: Uint8Array): Uint8Array {
  const varint = (value: number): number[] =>
    value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
  return Uint8Array.from([...varint((number << 3) | 2), ...varint(bytes.length), ...bytes]);
}

const opaque: Readonly<Record<string, readonly MutableJson[]>> = {
  "meta.v1.Time": ["2026-01-02T03:04:05Z"],
  "meta.v1.MicroTime": ["2026-01-02T03:04:05.000001Z"],
  "quantity.Quantity": ["1", "500m", "1Gi"],
  "intstr.IntOrString": [1, "a", -5],
  "runtime.RawExtension": [{ a: [1, "b", null] }],
  "meta.v1.FieldsV1": [{ "f:a": {} }],
  "apiextensions.v1.JSON": [{ a: 1 }, "text", 1, true, [1]],
  "apiextensions.v1.JSONSchemaPropsOrArray": [{ type: "string" }],
  "apiextensions.v1.JSONSchemaPropsOrBool": [true, { type: "string" }],
  "apiextensions.v1.JSONSchemaPropsOrStringArray": [["a"], { type: "string" }],
};

function randomStruct(random: Random, type: string, depth: number): MutableJsonObject {
  const object: MutableJsonObject = {};
  for (const field of kinds.structOf(type)?.fields ?? []) {
    if (field.isInline) {
      if (field.type.form === "struct")
        Object.assign(object, randomStruct(random, field.type.struct, depth));
      continue;
    }
    if (field.number === 0 || random.integer(3) === 0) continue;
    const value = randomValue(random, field.type, depth - 1);
    if (value !== undefined) setMember(object, field.name, value);
  }
  return object;
}

function randomValue(random: Random, type: FieldType, depth: number): MutableJson | undefined {
  if (depth < 0) return undefined;
  switch (type.form) {
    case "list": {
      const item = randomValue(random, type.item, depth);
      return item === undefined ? undefined : [item, item];
    }
    case "map": {
      const item = randomValue(random, type.value, depth);
      return item === undefined ? undefined : { a: item, "b/c": item };
    }
    case "struct": {
      const values = opaque[type.struct];
      if (values !== undefined) return random.pick(values);
      if (kinds.structOf(type.struct)?.element !== undefined) return ["a", "b"];
      return randomStruct(random, type.struct, depth);
    }
    case "scalar":
      switch (type.scalar) {
        case "string":
          return random.pick(["a", "ü😀"]);
        case "bool":
          return true;
        case "int32":
        case "uint8":
          return random.pick([1, 200]);
        case "int64":
          return random.pick<MutableJson>([1, -7, 2n ** 60n]);
        case "float64":
          return 1.5;
        case "bytes":
          return "AQI=";
        case "any":
          return undefined;
      }
  }
}
