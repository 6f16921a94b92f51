// Where a guide is followed: a checkout of its own, a home, the programs that a reader has, and ports that nobody else uses.

import { existsSync } from "node:fs";
import { mkdir, readdir, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findFreePorts } from "../tools/ports.ts";
import { programPath, type ProgramName } from "../oracle/programs.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Programs of the oracle that a reader has too, and brought. */
const brought: readonly ProgramName[] = ["kubectl", "helm"];

/** Below those of programs that tests start; a guide's servers take seconds until they listen. */
const portRange = { lowest: 9_000, highest: 11_000 };

export interface Places {
  /** Where the reader stands. */
  readonly checkout: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Prepares them below `folder`. The checkout has everything of this one but what is made there. */
export async function makePlaces(folder: string): Promise<Places> {
  const [checkout, home, programs] = ["keelson", "home", "bin"].map((name) => join(folder, name));
  for (const path of [checkout, home, programs]) await mkdir(path ?? "");
  for (const name of await readdir(root)) {
    if (!name.startsWith(".")) await symlink(join(root, name), join(checkout ?? "", name));
  }
  for (const name of brought.filter((one) => existsSync(programPath(one)))) {
    await symlink(programPath(name), join(programs ?? "", name));
  }
  // What scripts of npm have before it is nothing that a reader has.
  const path = (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((place) => !place.includes("node_modules"));
  const environment = {
    HOME: home ?? "",
    PATH: [programs, ...path].join(delimiter),
    LANG: "C.UTF-8",
    KEELSON_LOG_FORMAT: "text", // As at a terminal.
  };
  return { checkout: checkout ?? "", environment };
}

/** Ports of a guide and the free ones that they stand for. */
export class Ports {
  readonly #actual = new Map<string, string>();

  /** `text` with every port in it as it is here. */
  async enter(text: string): Promise<string> {
    for (const [, port = ""] of text.matchAll(portPlace)) {
      if (this.#actual.has(port)) continue;
      const taken = new Set(this.#actual.values());
      let free: string;
      do free = String((await findFreePorts(1, portRange))[0]);
      while (taken.has(free));
      this.#actual.set(port, free);
    }
    return text.replaceAll(portPlace, (place, port: string) =>
      place.replace(port, this.#actual.get(port) ?? port),
    );
  }

  /** `text` as the guide has it. */
  leave(text: string): string {
    let shown = text;
    for (const [port, actual] of this.#actual) {
      shown = shown.replaceAll(new RegExp(`\\b${actual}\\b`, "g"), port);
    }
    return shown;
  }
}

const portPlace = /(?:127\.0\.0\.1:|localhost:|-port[ =]|_PORT=|port: )(\d{4,5})\b/g;
