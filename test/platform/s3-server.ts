// A real S3 server, versitygw, with accounts of its own: one for all tests of a process, gone with it.

import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { S3 } from "@aws-sdk/client-s3";
import { reasonForNoOracle } from "../oracle/build.ts";
import { Guard, ProcessEnded } from "../tools/guarded.ts";
import { findFreePorts } from "../tools/ports.ts";
import { programPath } from "../oracle/programs.ts";
import { until } from "../tools/until.ts";

/** Why tests with an S3 server are skipped; false where they run. */
export const withoutS3: string | false = reasonForNoOracle() ?? false;

export interface Account {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/**
 * `owner` may have buckets and sees no other's; but once one has a policy, this server grants its owner what that grants and
 * nothing else, which AWS does not. `admin` may do everything with everybody's.
 */
export type Role = "admin" | "owner";

export interface S3Server extends AsyncDisposable {
  readonly port: number;
  readonly endpoint: string;
  readonly region: string;
  /** May do everything, with everybody's buckets. */
  readonly root: Account;
  createAccount(role: Role): Promise<Account>;
  clientOf(account: Account): S3;
  /** The names of everybody's buckets, in order. */
  buckets(): Promise<string[]>;
}

const region = "us-east-1";

let shared: Promise<S3Server> | undefined;

/** Started by the first test that asks. */
export function sharedS3(): Promise<S3Server> {
  shared ??= startS3(new AbortController().signal, { hasVersions: true });
  return shared;
}

/** It ends with this process at the latest. Without versions it is a store that does not know them at all. */
export async function startS3(
  signal: AbortSignal,
  { hasVersions }: { readonly hasVersions: boolean },
): Promise<S3Server> {
  const guard = new Guard();
  const root = newAccount();
  const folders = ["buckets", "versions", "accounts", "metadata"].map((name) =>
    join(guard.folder, name),
  );
  for (const folder of folders) mkdirSync(folder);
  const [buckets = "", versions = "", accounts = "", metadata = ""] = folders;
  const [port = 0] = await findFreePorts(1);
  const endpoint = `http://127.0.0.1:${port}`;
  const path = programPath("versitygw");
  const clientOf = (credentials: Account): S3 =>
    new S3({ region, endpoint, credentials, forcePathStyle: true });
  const probe = clientOf(root);
  const start = async (metadataFlags: readonly string[]): Promise<void> => {
    const server = await guard.start({
      name: "versitygw",
      path,
      arguments: [
        `--port=127.0.0.1:${port}`,
        `--region=${region}`,
        ...flagsOf(root),
        `--iam-dir=${accounts}`,
        "posix",
        ...metadataFlags,
        ...(hasVersions ? [`--versioning-dir=${versions}`] : []),
        buckets,
      ],
    });
    await until(async () => {
      if (server.hasEnded) throw new ProcessEnded("versitygw", "at its start", server.logTail());
      return await probe.listBuckets({}).then(
        () => true,
        () => false,
      );
    }, signal);
  };
  // Without extended attributes, which not every file system has, it keeps them in files, and is slower.
  await start([]).catch((error: unknown) => {
    if (error instanceof ProcessEnded) return start([`--sidecar=${metadata}`]);
    throw error;
  });
  return {
    port,
    endpoint,
    region,
    root,
    clientOf,
    createAccount: async (role) => {
      const account = newAccount();
      const admin = ["admin", ...flagsOf(root), `--endpoint-url=${endpoint}`];
      const named = role === "owner" ? "userplus" : role;
      const user = ["create-user", ...flagsOf(account), `--role=${named}`];
      await promisify(execFile)(path, [...admin, ...user]);
      return account;
    },
    buckets: async () => {
      const { Buckets = [] } = await probe.listBuckets({});
      return Buckets.map(({ Name = "" }) => Name).toSorted();
    },
    [Symbol.asyncDispose]: async () => {
      probe.destroy();
      await guard[Symbol.asyncDispose]();
    },
  };
}

function flagsOf({ accessKeyId, secretAccessKey }: Account): string[] {
  return [`--access=${accessKeyId}`, `--secret=${secretAccessKey}`];
}

function newAccount(): Account {
  return {
    accessKeyId: randomBytes(8).toString("hex"),
    secretAccessKey: randomBytes(16).toString("hex"),
  };
}
