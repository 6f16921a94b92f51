// Which server a command talks to: the one that is named, else the one that runs here.

import { loadDataDir } from "../../config.ts";
import type { Environment } from "../../config/given.ts";
import { readRunFile, RunFileUnreadable, type RunFile } from "../../run-file.ts";
import { CommandError, usageError } from "../command-error.ts";

export interface ServerFlags {
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly dataDir?: string | undefined;
  /** Who is asking, for a server that believes it. */
  readonly as?: string | undefined;
}

export interface FoundServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string | undefined;
  /** The e-mail address to come with. */
  readonly email: string | undefined;
}

/** Flags win over variables; without either, `run.json` of the data folder says. */
export async function findServer(
  { server, token, dataDir, as: email }: ServerFlags,
  {
    environment,
    workingFolder,
  }: { readonly environment: Environment; readonly workingFolder: string },
): Promise<FoundServer> {
  const [told, tokenName] =
    token === undefined
      ? [environment["KEELSON_TOKEN"] ?? "", "KEELSON_TOKEN"]
      : [token, "--token"];
  // As it comes out of a file, with a line break at its end.
  const known = told.trim() || undefined;
  if (known !== undefined && !/^[\x21-\x7e]+$/.test(known)) {
    throw usageError(
      `${tokenName} is no token: it has blanks, line breaks or letters that none has`,
    );
  }
  if (email !== undefined && !/^[\x20-\x7e\xa0-\xff]+$/.test(email)) {
    throw usageError("--as has letters that no header takes: write it like you@example.com");
  }
  if (known !== undefined && email !== undefined) {
    throw usageError("a token says who you are: leave out --as, or --token and KEELSON_TOKEN");
  }
  const [given, name] =
    server === undefined
      ? [environment["KEELSON_SERVER"] || undefined, "KEELSON_SERVER"]
      : [server, "--server"];
  if (given !== undefined) return { url: baseOf(given, name), token: known, email };

  const flags = dataDir === undefined ? {} : { "data-dir": dataDir };
  const folder = await loadDataDir({ flags, environment, workingFolder });
  const running = await whatRuns(folder);
  const otherwise = "or name one with --server or KEELSON_SERVER";
  if (running === undefined) {
    throw new CommandError(
      `no server is running on ${folder}: start one with "keelson up", ${otherwise}`,
    );
  }
  if (running.rest === undefined) {
    throw new CommandError(
      `what runs on ${folder} serves no REST API: start all of it with "keelson up", ${otherwise}`,
    );
  }
  return { url: baseOf(running.rest, "run.json"), token: known, email };
}

async function whatRuns(dataDir: string): Promise<RunFile | undefined> {
  try {
    return await readRunFile(dataDir);
  } catch (error) {
    if (!(error instanceof RunFileUnreadable)) throw error;
    const fix = "ask as the user who runs the server, or name it with --server or KEELSON_SERVER";
    throw new CommandError(`${error.message}: ${fix}`, { cause: error });
  }
}

function baseOf(text: string, name: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(
      `${name} "${text}" is no URL of a server: write it like http://127.0.0.1:8080`,
    );
  }
  return `${url.origin}${url.pathname.replace(/(\/api\/v1)?\/*$/, "")}`;
}
