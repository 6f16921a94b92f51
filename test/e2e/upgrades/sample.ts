// Data folders of earlier versions of ours, small enough to be kept, and what is to be found in them. There are two kinds: parts (the file of
// the store, the key of stored credentials, and as SQL what a PostgreSQL elsewhere had) and whole ones, with the PostgreSQL that comes with us.

import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { chmod, copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants } from "node:zlib";
import { Client } from "pg";

export interface Facts {
  /** Resources of fleet by kind, as the API told of them. */
  readonly resources: readonly ResourceFact[];
  /** A target that is nowhere: its credential can be opened all the same. */
  readonly target: string;
  readonly cluster: {
    readonly id: string;
    readonly spec: object;
    readonly generation: number;
    readonly reported: string;
  };
  /** Objects of the store: where each is, and its uid. */
  readonly objects: Readonly<Record<string, string>>;
}

export interface ResourceFact {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly generation: number;
  readonly revision: number;
  readonly desired_spec: object;
  /** The generations and revisions of its history, newest first. */
  readonly history: readonly (readonly [generation: number, revision: number])[];
}

const root = join(import.meta.dirname, "samples");
const partsRoot = join(root, "parts");
const wholeRoot = join(root, "whole");

export type SampleKind = "parts" | "whole";

/** The versions of which there is one. */
export function sampleVersions(kind: SampleKind): readonly string[] {
  return readdirSync(join(root, kind)).toSorted();
}

export async function readFacts(kind: SampleKind, version: string): Promise<Facts> {
  return JSON.parse(await readFile(join(root, kind, version, "facts.json"), "utf8")) as Facts;
}

/** Makes the data folder and the database, which is empty, what they were. */
export async function restoreParts(
  version: string,
  { dataDir, databaseUrl }: { readonly dataDir: string; readonly databaseUrl: string },
): Promise<void> {
  const folder = join(partsRoot, version);
  await mkdir(dataDir, { recursive: true });
  await copyFile(join(folder, "encryption.key"), join(dataDir, "encryption.key"));
  await chmod(join(dataDir, "encryption.key"), 0o600);
  await writeFile(join(dataDir, "apiserver.db"), await unpack(join(folder, "apiserver.db.br")));
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query((await unpack(join(folder, "database.sql.br"))).toString());
  } finally {
    await client.end();
  }
}

/** Makes the data folder what it was. Under root PostgreSQL's files belong again to whom they belonged. */
export async function restoreWhole(version: string, dataDir: string): Promise<void> {
  const archive = `${dataDir}.tar`;
  await writeFile(archive, await unpack(join(wholeRoot, version, "data.tar.br")));
  await mkdir(dataDir, { mode: 0o711 });
  await tar(["--extract", "--file", archive, "--directory", dataDir]);
  await rm(archive);
}

interface Kept {
  readonly dataDir: string;
  readonly facts: Facts;
}

export async function writeParts(
  version: string,
  { dataDir, dump, facts }: Kept & { /** What `pg_dump` has printed. */ readonly dump: string },
): Promise<void> {
  const folder = join(partsRoot, version);
  await mkdir(folder, { recursive: true });
  await copyFile(join(dataDir, "encryption.key"), join(folder, "encryption.key"));
  await pack(join(folder, "apiserver.db.br"), await readFile(join(dataDir, "apiserver.db")));
  await pack(join(folder, "database.sql.br"), Buffer.from(dump));
  await writeFacts(folder, facts);
}

export async function writeWhole(version: string, { dataDir, facts }: Kept): Promise<void> {
  const folder = join(wholeRoot, version);
  await mkdir(folder, { recursive: true });
  const archive = `${dataDir}.tar`;
  await tar(["--create", "--sort=name", "--file", archive, "--directory", dataDir, "."]);
  await pack(join(folder, "data.tar.br"), await readFile(archive));
  await rm(archive);
  await writeFacts(folder, facts);
}

async function writeFacts(folder: string, facts: Facts): Promise<void> {
  await writeFile(join(folder, "facts.json"), `${JSON.stringify(facts, undefined, 2)}\n`);
}

async function pack(path: string, content: Buffer): Promise<void> {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
    // Databases of PostgreSQL begin as copies of each other.
    [constants.BROTLI_PARAM_LGWIN]: 26,
    [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
  };
  await writeFile(path, await promisify(brotliCompress)(content, { params }));
}

async function unpack(path: string): Promise<Buffer> {
  const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };
  return await promisify(brotliDecompress)(await readFile(path), { params });
}

async function tar(flags: readonly string[]): Promise<void> {
  await promisify(execFile)("tar", flags);
}
