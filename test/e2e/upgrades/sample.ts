// What a data folder of some version of ours held, small enough to be kept: the file of the store, what PostgreSQL had as SQL, the key
// of stored credentials, and what is to be found in them.

import { readdirSync } from "node:fs";
import { chmod, copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
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

/** The versions of which there is one. */
export function sampleVersions(): readonly string[] {
  return readdirSync(root).toSorted();
}

export async function readFacts(version: string): Promise<Facts> {
  return JSON.parse(await readFile(join(root, version, "facts.json"), "utf8")) as Facts;
}

/** Makes the data folder and the database, which is empty, what they were. */
export async function restoreSample(
  version: string,
  { dataDir, databaseUrl }: { readonly dataDir: string; readonly databaseUrl: string },
): Promise<void> {
  const folder = join(root, version);
  await mkdir(dataDir, { recursive: true });
  await copyFile(join(folder, "encryption.key"), join(dataDir, "encryption.key"));
  await chmod(join(dataDir, "encryption.key"), 0o600);
  const unpacked = async (name: string): Promise<Buffer> =>
    promisify(brotliDecompress)(await readFile(join(folder, name)));
  await writeFile(join(dataDir, "apiserver.db"), await unpacked("apiserver.db.br"));
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query((await unpacked("database.sql.br")).toString());
  } finally {
    await client.end();
  }
}

export interface SampleParts {
  readonly dataDir: string;
  /** What `pg_dump` has printed. */
  readonly dump: string;
  readonly facts: Facts;
}

export async function writeSample(version: string, parts: SampleParts): Promise<void> {
  const folder = join(root, version);
  await mkdir(folder, { recursive: true });
  const { dataDir, dump, facts } = parts;
  const pack = async (name: string, content: Buffer): Promise<void> => {
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    await writeFile(join(folder, name), await promisify(brotliCompress)(content, { params }));
  };
  await copyFile(join(dataDir, "encryption.key"), join(folder, "encryption.key"));
  await pack("apiserver.db.br", await readFile(join(dataDir, "apiserver.db")));
  await pack("database.sql.br", Buffer.from(dump));
  await writeFile(join(folder, "facts.json"), `${JSON.stringify(facts, undefined, 2)}\n`);
}
