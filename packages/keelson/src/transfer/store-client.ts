// A store as a place to read from and write to through the Kubernetes API: a server of ours for the length of a command, on a port
// that nobody knows, with one token.

import { lstat, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { noMetrics, silentLog, systemClock, systemRandom } from "@keelson/base";
import { AggregatedServer, arkResources, mastersGroup, type Host } from "@keelson/apiserver";
import { Client, fixedCredentials } from "@keelson/client";

import type { Config } from "../config.ts";
import { makeFolder } from "../data-dir.ts";
import { openStore } from "../open-store.ts";

/** Opens the store that the configuration names. The rules of references are not asked: objects come in any order. */
export async function openStoreClient(
  config: Config,
  signal: AbortSignal,
): Promise<{ readonly client: Client } & AsyncDisposable> {
  await using undo = new AsyncDisposableStack();
  const shared = { clock: systemClock, random: systemRandom, log: silentLog, metrics: noMetrics };
  const certDir = await mkdtemp(join(tmpdir(), folderPrefix));
  undo.defer(() => rm(certDir, { recursive: true, force: true }));
  await clearForgotten(certDir);
  if (config.storageDriver === "sqlite") {
    // The store tells what is wrong with a folder that cannot be made.
    await makeFolder(dirname(config.sqlitePath), 0o700).catch(() => undefined);
  }
  const databaseUrl = () => config.databaseUrl ?? "";
  const stored = { config, databaseUrl, migrates: false, patienceMs: 0 };
  const store = undo.use(await openStore({ ...shared, ...stored }, signal));
  const token = systemRandom.uuid() + systemRandom.uuid();
  const server = undo.use(
    await AggregatedServer.start(
      {
        ...shared,
        store,
        cluster: hostOf(token),
        resources: arkResources(),
        host: "127.0.0.1",
        port: 0,
        certDir,
        servingFiles: undefined,
        clientAuthorityFile: undefined,
        allowsAnonymous: false,
      },
      signal,
    ),
  );
  const ca = await readFile(join(certDir, "ca.crt"), "utf8");
  const client = undo.use(
    new Client({
      access: { server: server.url, credentials: fixedCredentials({ token, ca }) },
      rateLimit: { perSecond: 1_000_000, burst: 1_000_000 },
    }),
  );
  const owned = undo.move();
  return { client, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

const folderPrefix = "keelson-transfer-";
/** Whoever has one in use has read it long before. */
const forgottenMs = 3_600_000;

/**
 * Removes the certificates and keys, which open nothing any more, that commands of ours have left which were killed: by age
 * against the folder made just now, whose time is of the same clock.
 */
async function clearForgotten(certDir: string): Promise<void> {
  const { mtimeMs: now, uid } = await lstat(certDir);
  const names = await readdir(tmpdir()).catch(() => []); // It may be entered and not listed.
  for (const name of names.filter((name) => name.startsWith(folderPrefix))) {
    const folder = join(tmpdir(), name);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== uid) continue;
    if (now - found.mtimeMs < forgottenMs) continue;
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
}

/** A cluster with one user and every namespace. */
function hostOf(token: string): Host {
  const user = { name: "keelson-transfer", uid: "", groups: [mastersGroup], extra: {} };
  return {
    authentication: () => nothing,
    reviewToken: (shown) =>
      Promise.resolve(
        shown === token ? { user, audiences: [] } : { refusal: "it is another token" },
      ),
    reviewAccess: () => Promise.resolve({ isAllowed: false, reason: "" }),
    namespaces: { isActive: () => true, ask: () => Promise.resolve("active") },
    ping: () => Promise.resolve(),
  };
}

const nothing = {};
