// Settings for tests: those of `keelson up` where nothing is given, nobody watches and no file is near.

import { loadConfig, type Config, type ConfigInput } from "../config.ts";

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
