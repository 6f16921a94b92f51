// Plants a bug in a copy of the store, which then runs in place of the real one.

import { cpSync, mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { StoreModule } from "../client.ts";
import type { Edit } from "./mutant.ts";

const root = join(import.meta.dirname, "../../..");

/** Inside the repository, so that the copy finds its dependencies; ignored by git. */
const scratch = join(root, ".mutants");

/** A copy of the store's sources; disposing removes it. */
export interface Planted extends Disposable {
  readonly module: StoreModule;
  /** Of the copy's `index.ts`. */
  readonly url: string;
}

/** Copies the store, makes the edits, and loads it. Throws if an edit's text does not stand there exactly once. */
export async function plant(edits: readonly Edit[]): Promise<Planted> {
  mkdirSync(scratch, { recursive: true });
  const folder = mkdtempSync(join(scratch, "store-"));
  try {
    const source = join(root, "packages/store");
    cpSync(source, folder, {
      recursive: true,
      filter: (path) => !path.includes("node_modules") && !path.endsWith(".test.ts"),
    });
    for (const edit of edits) apply(folder, edit);
    const url = pathToFileURL(join(folder, "src/index.ts")).href;
    const module = (await import(url)) as StoreModule;
    return { module, url, [Symbol.dispose]: () => remove(folder) };
  } catch (error) {
    remove(folder);
    throw error;
  }
}

function apply(folder: string, { file, find, replace }: Edit): void {
  const path = join(folder, "src", file);
  const text = readFileSync(path, "utf8");
  const count = text.split(find).length - 1;
  if (count !== 1)
    throw new Error(
      `${file} has the text of a planted bug ${count} times: ${JSON.stringify(find)}`,
    );
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}
