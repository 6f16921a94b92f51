import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { settingsDocument } from "./document.ts";

test("docs/reference/settings.md has the table of settings as it is", () => {
  const page = readFileSync(
    new URL("../../../../docs/reference/settings.md", import.meta.url),
    "utf8",
  );
  assert.ok(page.includes(settingsDocument()), "npm run docs:reference writes it");
});
