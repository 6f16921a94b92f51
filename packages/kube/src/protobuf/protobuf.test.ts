import assert from "node:assert/strict";
import { before, suite, test } from "node:test";

import { jsonEqual, writeJson } from "@keelson/base";
import {
  loadBuiltinKinds,
  loadKindExamples,
  type BuiltinKinds,
  type KindExample,
} from "../kinds/builtin-kinds.ts";
import { ProtobufCodec } from "./codec.ts";

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
      return jsonEqual(decoded, got) ? [] : [`${name}\n${writeJson(decoded)}\n${writeJson(got)}`];
    });
    assert.deepEqual(wrong, []);
    assert.ok(Object.keys(examples).length > 60);
  });

  test("what we write we read again, for every kind", () => {
    for (const [name, { got }] of Object.entries(examples)) {
      const again = codec.decode(codec.encode(got));
      assert.ok(jsonEqual(again, got), `${name}\n${writeJson(again)}\n${writeJson(got)}`);
    }
  });
});

function bytes(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, "base64"));
}
