// Manifests from files, folders and standard input.

import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  isJsonArray,
  isJsonObject,
  JsonSyntaxError,
  readJson,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { CommandError, usageError } from "./command-error.ts";
import type { Session } from "./session.ts";

/** An object as somebody wrote it, and where. */
export interface Manifest {
  readonly object: JsonObject;
  /** The file, and which of its documents where it has several. */
  readonly place: string;
}

/** Every object of the paths, in their order; `-` is standard input. The files of a folder come by name. */
export async function readManifests(
  { terminal, workingFolder }: Pick<Session, "terminal" | "workingFolder">,
  paths: readonly string[],
  { isRecursive }: { readonly isRecursive: boolean },
  signal: AbortSignal,
): Promise<readonly Manifest[]> {
  const { readYaml, YamlError } = await import("@keelson/apiserver/yaml");
  const parse = ({ text, linesBefore }: Document, place: string): Json => {
    try {
      return /^\s*[{[]/.test(text) ? readJson(text) : readYaml(text).value;
    } catch (error) {
      if (!(error instanceof YamlError) && !(error instanceof JsonSyntaxError)) throw error;
      // Once more, in its place: then it tells the line of the file, which an editor shows.
      if (linesBefore > 0) {
        return parse({ text: `${"\n".repeat(linesBefore)}${text}`, linesBefore: 0 }, place);
      }
      throw usageError(`${place} cannot be read: ${error.message}`, { cause: error });
    }
  };
  const manifests: Manifest[] = [];
  for (const path of paths) {
    const texts =
      path === "-"
        ? [{ name: standardInput, text: await terminal.readInput(signal) }]
        : await readPath(resolve(workingFolder, path), path, isRecursive);
    for (const { name, text } of texts) {
      const documents = documentsOf(text);
      for (const [index, document] of documents.entries()) {
        const place = documents.length === 1 ? name : `${name}, document ${index + 1}`;
        manifests.push(...objectsOf(parse(document, place), place));
      }
    }
  }
  if (manifests.length === 0) {
    const places = paths.map((path) => (path === "-" ? standardInput : path));
    throw usageError(`${places.join(", ")} holds no objects`);
  }
  return manifests;
}

const standardInput = "standard input";

interface Document {
  readonly text: string;
  /** How many lines of the file come before its first. */
  readonly linesBefore: number;
}

interface NamedText {
  readonly name: string;
  readonly text: string;
}

async function readPath(
  path: string,
  shown: string,
  isRecursive: boolean,
): Promise<readonly NamedText[]> {
  try {
    const isFolder = (await stat(path)).isDirectory();
    if (!isFolder) return [{ name: shown, text: await readFile(path, "utf8") }];
    const names = await readdir(path, { recursive: isRecursive });
    const wanted = names.filter((name) => /\.(ya?ml|json)$/.test(name)).toSorted();
    return await Promise.all(
      wanted.map(async (name) => ({
        name: join(shown, name),
        text: await readFile(join(path, name), "utf8"),
      })),
    );
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT") throw usageError(`${shown} does not exist`);
    throw new CommandError(`${shown} cannot be read (${code ?? String(cause)})`, { cause });
  }
}

/** As kubectl cuts them: at lines that begin with three dashes. What holds nothing but comments is none. */
function documentsOf(text: string): readonly Document[] {
  const documents: Document[] = [];
  let linesBefore = 0;
  for (const piece of text.split(/^---(?=\s|$).*$/m)) {
    const lines = piece.split("\n");
    if (lines.some((line) => /^\s*[^\s#]/.test(line))) documents.push({ text: piece, linesBefore });
    // A piece ends where its line of dashes begins, and the next one begins at the end of that line.
    linesBefore += lines.length - 1;
  }
  return documents;
}

/** The object, or those of a list. */
function objectsOf(value: Json, place: string): readonly Manifest[] {
  if (value === null) return [];
  if (!isJsonObject(value)) throw usageError(`${place} is no object`);
  const { kind, items } = value;
  if (
    typeof kind !== "string" ||
    !kind.endsWith("List") ||
    items === undefined ||
    !isJsonArray(items)
  ) {
    return [{ object: value, place }];
  }
  return items.flatMap((item, index) => objectsOf(item, `${place}, item ${index + 1}`));
}
