// The load generator at a server.

import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { JsonObject } from "@keelson/base";

import type { KeyPair } from "../tools/certificates.ts";
import { programPath } from "../oracle/programs.ts";
import { Running } from "./walks/commands.ts";

/** What the load generator says. Times in milliseconds. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly rate: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** How often something went wrong, by what it was. */
  readonly errors: Readonly<Record<string, number>>;
  readonly sample?: string;
  /** Events that watchers should have seen, and did. */
  readonly expected: number;
  readonly seen: number;
  /** Different streams among those who followed. */
  readonly streams?: number;
}

export interface LoadOptions {
  readonly verb: "create" | "fill" | "update" | "get" | "list" | "page" | "watch" | "post" | "raw";
  readonly path?: string;
  readonly prefix?: string;
  readonly clients?: number;
  readonly objects?: number;
  readonly size?: number;
  readonly limit?: number;
  readonly watchers?: number;
  readonly rate?: number;
  readonly seconds?: number;
  readonly http2?: boolean;
  /** Whether writes that are watched are merge patches: custom kinds take no PUT without a version. */
  readonly patch?: boolean;
  readonly watchUrls?: readonly string[];
  /** The object to write, with `{name}` and `{stamp}` in its texts. */
  readonly template?: JsonObject;
}

/** One user's load on one server. */
export class LoadGenerator implements Disposable {
  readonly #url: string;
  readonly #folder: string;
  readonly #flags: readonly string[];

  constructor(server: { readonly url: string; readonly ca: string; readonly admin: KeyPair }) {
    this.#url = server.url;
    this.#folder = mkdtempSync(join(tmpdir(), "keelson-load-"));
    this.#flags = [
      "-ca",
      this.#write("ca.crt", server.ca),
      "-cert",
      this.#write("client.crt", server.admin.certificate),
      "-key",
      this.#write("client.key", server.admin.key),
    ];
  }

  /** Runs it to its end; what failed is in the result. */
  async run(options: LoadOptions, signal: AbortSignal): Promise<LoadResult> {
    const flags = this.#flagsOf(options);
    // With several threads Go's scheduler spends a third of its time between them, which on two cores is the server's: with one
    // the same server answers a third more gets to 64 clients. Only who follows many watches needs more.
    const env = options.verb === "watch" ? process.env : { ...process.env, GOMAXPROCS: "1" };
    return await new Promise<LoadResult>((resolve, reject) => {
      const bounds = { signal, env, maxBuffer: 1 << 24 };
      execFile(programPath("loadgen"), flags, bounds, (error, stdout, stderr) => {
        if (error === null) resolve(JSON.parse(stdout) as LoadResult);
        else reject(new Error(`the load generator failed: ${stderr}`, { cause: error }));
      });
    });
  }

  /** Watchers that follow a collection until they are told which revision is the last. */
  async follow(
    options: Pick<LoadOptions, "path" | "watchers" | "watchUrls">,
    signal: AbortSignal,
  ): Promise<Followers> {
    const flags = [...this.#flagsOf({ ...options, verb: "get" }), "-verb", "follow"];
    const child = spawn(programPath("loadgen"), flags, { signal });
    const followers = new Followers(new Running(child), (revision) =>
      child.stdin.end(`${revision}\n`),
    );
    await followers.running.until(/^open$/);
    return followers;
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #flagsOf(options: LoadOptions): string[] {
    const { seconds = 2, http2 = false, patch = false, watchUrls, template, ...rest } = options;
    const flags = [...this.#flags, "-url", this.#url, "-duration", `${seconds}s`];
    if (http2) flags.push("-http2");
    if (patch) flags.push("-patch");
    if (watchUrls !== undefined) flags.push("-watch-urls", watchUrls.join(","));
    if (template !== undefined)
      flags.push("-template", this.#write("template.json", JSON.stringify(template)));
    for (const [name, value] of Object.entries(rest)) flags.push(`-${name}`, String(value));
    return flags;
  }

  #write(file: string, text: string): string {
    writeFileSync(join(this.#folder, file), text, { mode: 0o600 });
    return join(this.#folder, file);
  }
}

/** Watchers in a process of their own. */
export class Followers implements AsyncDisposable {
  readonly running: Running;
  readonly #tell: (revision: number) => void;

  constructor(running: Running, tell: (revision: number) => void) {
    this.running = running;
    this.#tell = tell;
  }

  /** Waits until all have come to this revision, or nothing comes any more. */
  async until(revision: number): Promise<LoadResult> {
    this.#tell(revision);
    const line = (await this.running.until(/^\{/)).at(-1);
    return JSON.parse(line ?? "") as LoadResult;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.running[Symbol.asyncDispose]();
  }
}

/** How many requests or streams went wrong. */
export function failuresOf({ errors }: LoadResult): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0);
}

/** Why watchers cannot be said to have seen every write, undefined if they can: none was written, or another number of events came. */
export function missedBy({ expected, seen }: LoadResult): string | undefined {
  if (expected === 0) return "nothing was written before watchers";
  return seen === expected ? undefined : `${expected} events were due and ${seen} came`;
}
