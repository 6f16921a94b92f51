import { readFileSync } from "node:fs";

/** The version of this program. */
export function keelsonVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/** The same for people, and what it runs on. */
export function versionLine(): string {
  return `keelson ${keelsonVersion()} (Node ${process.versions.node})\n`;
}
