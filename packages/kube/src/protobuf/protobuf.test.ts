import assert from "node:assert/strict";
import { before, suite, test } from "node:test";

import { jsonEqual, writeJson, type Json, type MutableJsonObject } from "@keelson/base";
import {
  loadBuiltinKinds,
  loadKindExamples,
  type BuiltinKinds,
  type KindExample,
} from "../kinds/builtin-kinds.ts";
import { ProtobufCodec } from "./codec.ts";
import { readEnvelope, writeEnvelope } from "./envelope.ts";
import { ProtobufError } from "./protobuf-error.ts";

suite("protobuf", () => {
  let kinds: BuiltinKinds;
  let examples: Readonly<Record<string, KindExample>>;
  let codec: ProtobufCodec;

  before(async () => {
    kinds = await loadBuiltinKinds();
    examples = await loadKindExamples();
    codec = new ProtobufCodec(kinds);
  });

  test("what the oracle wrote is read as its own JSON, for every kind", () => {
    const wrong = Object.entries(examples).flatMap(([name, { got, protobuf }]) => {
      const decoded = codec.decode(bytes(protobuf));
      return jsonEqual(decoded, got as Json)
        ? []
        : [`${name}\n${writeJson(decoded)}\n${writeJson(got as Json)}`];
    });
    assert.deepEqual(wrong, []);
    assert.ok(Object.keys(examples).length > 60);
  });

  test("what we write we read again, for every kind", () => {
    for (const [name, { got }] of Object.entries(examples)) {
      const again = codec.decode(codec.encode(got));
      assert.ok(
        jsonEqual(again, got as Json),
        `${name}\n${writeJson(again)}\n${writeJson(got as Json)}`,
      );
    }
  });
});

function bytes(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, "base64"));
}

export type { MutableJsonObject };
export { ProtobufError, readEnvelope, writeEnvelope };
