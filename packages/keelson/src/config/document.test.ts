import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { settingsDocument } from "./document.ts";

test("docs/settings.md has the table of settings as it is", () => {
  const page = readFileSync(new URL("../../../../docs/settings.md", import.meta.url), "utf8");
  assert.ok(
    page.includes(settingsDocument()),
    "run npm run keelson -- config --markdown and put it there",
  );
});
