import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { settingsDocument } from "./document.ts";
import { variableOf } from "./setting.ts";
import { anySettings } from "./settings.ts";

suite("docs/reference/settings.md", () => {
  const page = readFileSync(
    new URL("../../../../docs/reference/settings.md", import.meta.url),
    "utf8",
  );

  test("has the table of settings as it is", () => {
    assert.ok(page.includes(settingsDocument()), "npm run docs:reference writes it");
  });

  test("says of each default that depends on something what it is", () => {
    const [byHand = ""] = page.split(settingsDocument(), 1);
    const silent = anySettings
      .filter(([, { default: standard }]) => typeof standard === "function")
      .map(([key]) => variableOf(key))
      .filter((variable) => !byHand.includes(`\n| \`${variable}\` | `));
    assert.deepEqual(silent, []);
  });
});
