import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { StatusError } from "../status/status.ts";
import { negotiateAnswer, type Offer } from "./accept.ts";
import {
  builtInPatches,
  customPatches,
  negotiateBody,
  negotiatePatch,
  wantsPretty,
} from "./content-type.ts";

const offer: Offer = {
  formats: [
    { mediaType: "application/json", canStream: true },
    { mediaType: "application/yaml", canStream: false },
    { mediaType: "application/vnd.kubernetes.protobuf", canStream: true },
  ],
  canConvert: ({ kind }, mediaType) => kind === "Table" && mediaType === "application/json",
};

function messageOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return `${error.status.code} ${error.message}`;
  }
  return assert.fail("it did not fail");
}

suite("negotiation", () => {
  for (const [header, mediaType, kind] of [
    ["", "application/json", undefined],
    ["*/*", "application/json", undefined],
    ["application/*", "application/json", undefined],
    ["application/yaml", "application/yaml", undefined],
    ["text/html, application/yaml;q=0.9, */*;q=0.8", "application/yaml", undefined],
    ["application/json;q=0.1, application/yaml", "application/yaml", undefined],
    ["application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json", "Table"],
    [
      "application/json;as=Other;v=v1;g=meta.k8s.io,application/json",
      "application/json",
      undefined,
    ],
    [
      "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1,application/json;as=Table;g=meta.k8s.io;v=v1",
      "application/json",
      "Table",
    ],
    ["application/yaml;stream=watch,application/json;stream=watch", "application/json", undefined],
    ["nonsense,/,application/json/x,application/yaml", "application/yaml", undefined],
  ] as const) {
    test(`${header || "nothing"} takes ${mediaType}`, () => {
      const answer = negotiateAnswer(header, offer);
      assert.deepEqual([answer.mediaType, answer.conversion?.kind], [mediaType, kind]);
    });
  }

  test("says what it accepts", () => {
    assert.equal(
      messageOf(() => negotiateAnswer("text/html", offer)),
      "406 only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
    assert.equal(
      messageOf(() => negotiatePatch("application/strategic-merge-patch+json", customPatches)),
      "415 the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
    assert.equal(
      messageOf(() => negotiateBody("text/plain", ["application/json"])).slice(0, 3),
      "415",
    );
  });

  test("ignores the parameters of patches, and takes JSON where nothing is said", () => {
    assert.equal(
      negotiatePatch("application/merge-patch+json; charset=utf-8", builtInPatches),
      "merge",
    );
    assert.equal(negotiateBody("", ["application/json", "application/yaml"]), "application/json");
    assert.equal(
      negotiateBody("Application/JSON; charset=utf-8", ["application/json"]),
      "application/json",
    );
  });

  test("indents for people", () => {
    assert.deepEqual(
      [
        wantsPretty(undefined, "curl/8"),
        wantsPretty("0", "curl/8"),
        wantsPretty("true", "x"),
        wantsPretty(undefined, "kubectl"),
      ],
      [true, false, true, false],
    );
  });

  test("reads a header of megabytes quickly", () => {
    assert.throws(() => negotiateAnswer("a/b;q=0.1,".repeat(500_000), offer), StatusError);
  });
});
