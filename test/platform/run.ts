#!/usr/bin/env node
// Runs the tests of the platform: what is named here before a real Kubernetes, then everything before a server of ours.
// Keycloak, which takes most of a minute to start, is started meanwhile, once for both.
//
//   node test/platform/run.ts            what the gate runs
//   node test/platform/run.ts --long     the long ones, at the lengths and numbers of the contract

import { spawn } from "node:child_process";
import { once } from "node:events";
import { launchKeycloak } from "./keycloak-server.ts";

interface Run {
  readonly cluster: "own" | "oracle";
  /** Names of tests in this folder, without their endings. */
  readonly files: readonly string[];
}

const usual: readonly Run[] = [
  {
    cluster: "oracle",
    files: [
      "auth-config",
      "children",
      "database",
      "kinds",
      "operator",
      "operator-changes",
      "operator-crashes",
      "operator-faults",
      "operator-isolation",
      "operator-kills",
      "operator-previews",
      "operator-storage",
      "previews",
      "redis-search",
      "storage",
      "workload",
    ],
  },
  { cluster: "own", files: ["*"] },
];

const long: readonly Run[] = [
  { cluster: "own", files: ["operator-changes", "operator-faults", "operator-kills"] },
  {
    cluster: "oracle",
    files: [
      "auth",
      "auth-providers",
      "operator-changes",
      "operator-election",
      "operator-faults",
      "operator-prepared",
      "operator-processes",
      "operator-services",
      "operator-words",
      "rest-api",
    ],
  },
];

const isLong = process.argv.includes("--long");
const limitMs = isLong ? 7_200_000 : 300_000;
const launched =
  process.env["KEELSON_TEST_KEYCLOAK"] === undefined ? await launchKeycloak() : undefined;

for (const { cluster, files } of isLong ? long : usual) {
  const child = spawn(
    process.execPath,
    [
      "--test",
      "--test-isolation=none",
      `--test-timeout=${limitMs}`,
      "--test-force-exit",
      ...files.map((name) => `test/platform/${name}.test.ts`),
    ],
    {
      stdio: "inherit",
      env: {
        ...process.env,
        ...(cluster === "oracle" ? { KEELSON_TEST_CLUSTER: "oracle" } : {}),
        ...(launched === undefined ? {} : { KEELSON_TEST_KEYCLOAK: launched.url }),
      },
    },
  );
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) process.exitCode = 1;
}
const words = launched?.lastWords();
if (words !== undefined) console.error(`Keycloak ended before the tests did:\n${words}`);
