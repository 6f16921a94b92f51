// The same requests to the real server and through our rules; the README beside it shows how.

import { spawnSync } from "node:child_process";
import { after } from "node:test";

import { readJson, writeJson, type Json } from "@keelson/base";
import { patchTypes, type PatchType } from "@keelson/kube";

import { startOracle, type Oracle } from "./cluster.ts";
import { CustomKind, type CustomKindOptions } from "./custom-kind.ts";
import type { Method } from "../tools/wire.ts";

export { compare, describeDifference, type Difference } from "./compare.ts";
export { CustomKind, DefinitionRefused, type CustomKindOptions } from "./custom-kind.ts";
export { Normaliser } from "./normalise.ts";
export { oracleTest } from "./oracle-test.ts";
export { runTrials, TrialReport, type Trial, type TrialOptions } from "./trials.ts";

const namespacesDefault = 8;

export interface LaboratoryRequest {
  readonly method?: Method;
  /** With its query string. */
  readonly path: string;
  /** A string is sent as it is; anything else is written without loss. */
  readonly body?: Json;
  /** Makes it a PATCH of that type. */
  readonly patch?: PatchType;
  readonly contentType?: string;
  readonly accept?: string;
  /** Manager names are taken from it where no `fieldManager` is given. */
  readonly userAgent?: string;
}

/** What the real server said, every number as it was written. */
export interface Answer {
  readonly status: number;
  readonly isAccepted: boolean;
  readonly body: Json | undefined;
  readonly warnings: readonly string[];
  readonly text: string;
}

export interface LaboratoryOptions {
  readonly namespaces?: number;
  /** Further flags of kube-apiserver. */
  readonly flags?: readonly string[];
}

/** A real server with room for experiments: namespaces to work in, names that are free, custom kinds. */
export class Laboratory implements AsyncDisposable {
  readonly oracle: Oracle;
  readonly namespaces: readonly string[];
  #turn = 0;
  #names = 0;

  private constructor(oracle: Oracle, namespaces: readonly string[]) {
    this.oracle = oracle;
    this.namespaces = namespaces;
  }

  static async open(options: LaboratoryOptions, signal: AbortSignal): Promise<Laboratory> {
    await using undo = new AsyncDisposableStack();
    const flags = options.flags === undefined ? {} : { "kube-apiserver": options.flags };
    const oracle = undo.use(await startOracle({ flags }, signal));
    const count = options.namespaces ?? namespacesDefault;
    const names = Array.from({ length: count }, (_, index) => `lab-${index}`);
    const laboratory = new Laboratory(oracle, names);
    await Promise.all(
      names.map(async (name) => {
        const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
        await laboratory.must({ method: "POST", path: "/api/v1/namespaces", body }, signal);
      }),
    );
    undo.move();
    return laboratory;
  }

  /** One of the namespaces, in turn. Others work there too: use names from `freshName`. */
  namespace(): string {
    return this.namespaces[this.#turn++ % this.namespaces.length] ?? "default";
  }

  /** A name that nobody else gets. */
  freshName(prefix = "x"): string {
    return `${prefix}-${this.freshNumber()}`;
  }

  /** A number from one on that nobody else gets. */
  freshNumber(): number {
    return (this.#names += 1);
  }

  /** Sends a request. Every answer resolves, errors of the API too. */
  async send(request: LaboratoryRequest, signal: AbortSignal): Promise<Answer> {
    const { path, body, patch, accept, userAgent } = request;
    const contentType =
      request.contentType ?? (patch === undefined ? undefined : patchTypes[patch]);
    const response = await this.oracle.client.send(
      {
        method: request.method ?? (patch === undefined ? "GET" : "PATCH"),
        path,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : writeJson(body) }),
        headers: {
          ...(contentType === undefined ? {} : { "content-type": contentType }),
          ...(accept === undefined ? {} : { accept }),
          ...(userAgent === undefined ? {} : { "user-agent": userAgent }),
        },
      },
      signal,
    );
    return {
      status: response.status,
      isAccepted: response.status < 300,
      body: response.body === undefined ? undefined : readJson(response.text),
      warnings: response.warnings,
      text: response.text,
    };
  }

  /** Sends requests one after the other; each may use the answers before it. */
  async script(
    steps: readonly (LaboratoryRequest | ((answers: readonly Answer[]) => LaboratoryRequest))[],
    signal: AbortSignal,
  ): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    for (const step of steps) {
      answers.push(await this.send(typeof step === "function" ? step(answers) : step, signal));
    }
    return answers;
  }

  /** Sends a request that is only preparation: an error of the API throws. */
  async must(request: LaboratoryRequest, signal: AbortSignal): Promise<Json> {
    const { isAccepted, body, status, text } = await this.send(request, signal);
    if (!isAccepted) throw new Error(`${request.path} answered ${status} ${text}`);
    return body ?? null;
  }

  /** A custom kind, established and served. Throws `DefinitionRefused` with the server's Status. */
  async createKind(options: CustomKindOptions, signal: AbortSignal): Promise<CustomKind> {
    return await CustomKind.create(this.oracle, options, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.oracle[Symbol.asyncDispose]();
  }
}

/**
 * One laboratory for the tests of the suite that calls this: opened by the first test that asks, gone after the last. What
 * they leave behind is there for the next, so they use names of their own.
 */
export function sharedLaboratory(options: LaboratoryOptions): () => Promise<Laboratory> {
  let opened: Promise<Laboratory> | undefined;
  after(async () => {
    await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]();
  });
  // Not with the signal of the test that asks first: it aborts when that test is over.
  return () => (opened ??= Laboratory.open(options, new AbortController().signal));
}

/**
 * Seed and number of generated cases: from `ORACLE_SEED`, `ORACLE_CASES` and `ORACLE_TRIAL`, else a fresh seed (in the
 * gate that of the commit: each commit is judged by cases of its own, and always by the same), the given number, and all.
 * Print the report: it names the seed.
 */
export function trialSettings(countDefault: number): {
  readonly seed: string;
  readonly count: number;
  readonly only: number | undefined;
} {
  const { ORACLE_SEED, ORACLE_CASES, ORACLE_TRIAL } = process.env;
  return {
    seed: ORACLE_SEED ?? commitSeed() ?? String(Date.now() % 1_000_000_007),
    count: ORACLE_CASES === undefined ? countDefault : Number(ORACLE_CASES),
    only: ORACLE_TRIAL === undefined ? undefined : Number(ORACLE_TRIAL),
  };
}

/** In the gate, a number that follows from the commit; undefined elsewhere, and where there is no checkout. */
function commitSeed(): string | undefined {
  if (process.env["CI"] !== "true") return undefined;
  const { stdout, status } = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" });
  return status === 0 ? String(Number.parseInt(stdout.slice(0, 8), 16)) : undefined;
}
