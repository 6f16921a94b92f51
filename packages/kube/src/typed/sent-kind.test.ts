import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { readJson } from "@keelson/base";

import { loadBuiltinKinds } from "../kinds/builtin-kinds.ts";
import { sentKindProblem, unrecognizedMessage } from "./sent-kind.ts";

const kinds = await loadBuiltinKinds();
const target = kinds.find({ group: "apps", version: "v1", kind: "Deployment" });

suite("the kind a body says it is", () => {
  for (const [text, problem] of [
    [`{"apiVersion":"apps/v1","kind":"Deployment"}`, undefined],
    ["{}", undefined],
    [
      `{"apiVersion":"v1","kind":"Pod"}`,
      'Pod in version "v1" cannot be handled as a Deployment: converting (v1.Pod) to (apps.Deployment): unknown conversion',
    ],
    [
      `{"apiVersion":"example.com/v1","kind":"Thing"}`,
      'Thing in version "v1" cannot be handled as a Deployment: no kind "Thing" is registered for version "example.com/v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [
      `{"apiVersion":"apps/v1beta2","kind":"Deployment"}`,
      "the API version in the data (apps/v1beta2) does not match the expected API version (apps/v1)",
    ],
    [
      `{"kind":[]}`,
      'the object provided is unrecognized (must be of type Deployment): couldn\'t get version/kind; json parse error: json: cannot unmarshal array into Go struct field .kind of type string ({"kind":[]})',
    ],
  ] as const) {
    test(`${text}: ${problem ?? "is taken"}`, () => {
      assert.ok(target !== undefined);
      const sent = { value: readJson(text), bytes: new TextEncoder().encode(text) };
      assert.equal(sentKindProblem(kinds, target, sent), problem);
    });
  }

  test("a body is shown by its beginning", () => {
    const shown = (text: string): string =>
      unrecognizedMessage("Pod", "why", new TextEncoder().encode(text));
    assert.deepEqual(
      ["", `{"a":"${"b".repeat(30)}"}`, "[1]"].map(shown),
      ["<empty>", `{"a":"${"b".repeat(24)} ...`, "5b315d"].map(
        (summary) => `the object provided is unrecognized (must be of type Pod): why (${summary})`,
      ),
    );
  });
});
