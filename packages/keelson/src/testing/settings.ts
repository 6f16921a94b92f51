// Settings for tests: those of `keelson up` where nothing is given, nobody watches and no file is near.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, type Config, type ConfigInput } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";

export function loadSettings(input: Partial<ConfigInput> = {}): Promise<Config> {
  return loadConfig({
    flags: {},
    environment: {},
    workingFolder: "/nowhere",
    purpose: "up",
    isTerminal: false,
    ...input,
  });
}

/** What is said of settings that must be refused, a line each. */
export async function problemsOf(input: Partial<ConfigInput>): Promise<readonly string[]> {
  const error = await loadSettings(input).then(
    () => assert.fail("the configuration was accepted"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ConfigError);
  return error.message.split("\n  ").slice(1);
}

/** A folder with a configuration file. */
export async function configFile(
  content: string,
): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "keelson-config-"));
  await writeFile(join(path, "keelson.config.yaml"), content);
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}
