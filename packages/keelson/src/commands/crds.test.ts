import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { platformDefinitions } from "@keelson/platform/kinds";
import { parseAllDocuments } from "yaml";

import { definitionsYaml } from "./crds.ts";

suite("keelson crds", () => {
  test("is every definition, as a document", () => {
    const documents = parseAllDocuments(definitionsYaml()).map((one) => one.toJS() as unknown);
    assert.deepEqual(documents, platformDefinitions());
  });

  test("the chart of the operator has them as they are", () => {
    const file = "deploy/helm/plattr-operator/crds/platform.internal.yaml";
    const text = readFileSync(new URL(`../../../../${file}`, import.meta.url), "utf8");
    assert.equal(text, definitionsYaml(), `run npm run -s keelson -- crds > ${file}`);
  });
});
