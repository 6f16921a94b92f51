// `keelson apiserver export` and `import`: objects of the Ark kinds between a cluster and a store.

import { once } from "node:events";
import { open, type FileHandle } from "node:fs/promises";
import { createInterface } from "node:readline";
import { stdin, stdout } from "node:process";

import { systemClock } from "@keelson/base";
import {
  BadKubeconfig,
  Client,
  ClientBusy,
  ConnectionFailed,
  DeadlineExceeded,
  GroupUnavailable,
  hasCode,
  loadKubeconfig,
  UnexpectedAnswer,
  UnknownKind,
} from "@keelson/client";
import { StatusError } from "@keelson/kube";

import type { Config } from "../config.ts";
import { requireStore } from "../open-store.ts";
import { StartError } from "../start-error.ts";
import { objectsDatabase, startFailure } from "../start-failure.ts";
import { arkKindsInOrder, chosenKinds, UnknownKinds } from "../transfer/ark-order.ts";
import { exportObjects } from "../transfer/export-objects.ts";
import { importObjects } from "../transfer/import-objects.ts";
import { BadLine, travellingOf, type Travelling } from "../transfer/object-line.ts";
import { openStoreClient } from "../transfer/store-client.ts";
import { CommandError } from "./command-error.ts";
import type { Terminal } from "./terminal.ts";

/** Objects to standard output, a line each; counts to standard error. */
export async function exportLines(
  config: Config,
  { kinds, terminal }: { readonly kinds: readonly string[]; readonly terminal: Terminal },
  signal: AbortSignal,
): Promise<void> {
  try {
    const chosen = chosenKinds(kinds);
    if (config.kubeconfig === undefined) await requireStore(config);
    await using place = await openPlace(config, signal);
    const write = async (line: string): Promise<void> => {
      terminal.write(`${line}\n`);
      if (stdout.writableNeedDrain) await once(stdout, "drain", { signal });
    };
    const counts = await exportObjects({ client: place.client, kinds: chosen, write }, signal);
    for (const [plural, count] of counts) terminal.note(`${plural} ${count}`);
  } catch (error) {
    throw transferFailure(error, config);
  }
}

/** Objects from a file, `-` for standard input. Answers whether all of them are there in the end, and whole. */
export async function importLines(
  config: Config,
  { file, terminal }: { readonly file: string; readonly terminal: Terminal },
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const objects = await readLines(file, signal);
    const kinds = arkKindsInOrder();
    const foreign = objects.find(
      (one) =>
        !kinds.some(({ kind, apiVersion }) => kind === one.kind && apiVersion === one.apiVersion),
    );
    if (foreign !== undefined) {
      throw new BadLine(`${foreign.kind} of ${foreign.apiVersion} is no kind of ours`);
    }
    await using place = await openPlace(config, signal);
    const imported = await importObjects(
      {
        client: place.client,
        kinds,
        objects,
        knowsOtherKinds: config.kubeconfig !== undefined,
        warn: (text) => terminal.note(text),
      },
      signal,
    );
    for (const { plural, given, created, differing, incomplete, present } of imported) {
      if (given === 0) continue;
      const left = differing === 0 ? "" : `, ${differing} of them different and left alone`;
      const lacking = incomplete === 0 ? "" : `, ${incomplete} incomplete`;
      terminal.write(`${plural} ${present} of ${given} (${created} created${left}${lacking})\n`);
    }
    return imported.every(({ given, present }) => given === present);
  } catch (error) {
    throw transferFailure(error, config);
  }
}

/** The cluster of `--kubeconfig`, else the store of the storage settings. */
async function openPlace(
  config: Config,
  signal: AbortSignal,
): Promise<{ readonly client: Client } & AsyncDisposable> {
  const { kubeconfig, proxies } = config;
  if (kubeconfig === undefined) return await openStoreClient(config, signal);
  const access = await loadKubeconfig({ files: [kubeconfig] }, { clock: systemClock, proxies });
  const client = new Client({ access, userAgent: "keelson-transfer" });
  return { client, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

async function readLines(file: string, signal: AbortSignal): Promise<readonly Travelling[]> {
  const objects: Travelling[] = [];
  let number = 0;
  const input = file === "-" ? stdin : (await openFile(file)).createReadStream();
  for await (const line of createInterface({ input, signal })) {
    number += 1;
    if (line.trim() !== "") objects.push(travellingOf(line, number));
  }
  signal.throwIfAborted(); // It ends as if the file did.
  return objects;
}

async function openFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code;
    throw new StartError("USAGE", `${path} cannot be read (${reason})`, { cause });
  }
  if (!(await file.stat()).isDirectory()) return file;
  await file.close();
  throw new StartError("USAGE", `${path} is a folder`);
}

function transferFailure(error: unknown, config: Config): unknown {
  const isUsage =
    error instanceof BadLine || error instanceof UnknownKinds || error instanceof BadKubeconfig;
  if (isUsage) return new StartError("USAGE", error.message, { cause: error });
  return placeFailure(error, config) ?? startFailure(error);
}

/** What the place has answered, or why it has not, in a sentence; undefined for whatever is not about that. */
function placeFailure(error: unknown, config: Config): CommandError | undefined {
  if (!(error instanceof Error) || !ofPlace.some((kind) => error instanceof kind)) return undefined;
  const { kubeconfig } = config;
  const place =
    kubeconfig === undefined ? objectsDatabase(config).name : `the cluster of ${kubeconfig}`;
  const told = hasCode(error, 401)
    ? "it does not know us: the credentials are wrong or expired"
    : error.message;
  const fix = error instanceof UnknownKind ? ": install the kinds of Ark there first" : "";
  return new CommandError(`${place}: ${told}${fix}`, { cause: error });
}

const ofPlace = [
  ClientBusy,
  ConnectionFailed,
  DeadlineExceeded,
  GroupUnavailable,
  StatusError,
  UnexpectedAnswer,
  UnknownKind,
] as const;
