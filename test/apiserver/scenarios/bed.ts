// A real server on each backend for the scenarios of a suite.

import assert from "node:assert/strict";
import { after, before, suite, test, type TestContext } from "node:test";

import type { JsonObject } from "@keelson/base";

import { residentBytes } from "../../e2e/resident.ts";
import { reasonForNoOracle } from "../../oracle/build.ts";
import type { Request, Response } from "../../tools/http-client.ts";
import type { Method } from "../../tools/wire.ts";
import { until } from "../../tools/until.ts";
import { createNamespace } from "../create-namespace.ts";
import { LoadGenerator } from "../loadgen.ts";
import { drivers, startOurs, type Driver, type OursOptions } from "../ours.ts";
import type { Target } from "../target.ts";
import { Commands, type CommandOptions } from "../walks/commands.ts";
import { concurrency } from "./length.ts";
import { openStream } from "./stream.ts";

/** What scenarios are run against: a server of ours, reached straight or through a host. */
export interface ScenarioServer extends Target {
  /** Our process, and where it keeps its files. */
  readonly pid: number | undefined;
  readonly dataDir: string;
  /** Our process itself, where clients reach it by another: what is only needed in numbers is made there. */
  readonly direct?: Pick<Target, "url" | "ca" | "admin">;
  /** Whether nothing was done, since whoever stands before our process did not reach it. */
  isHeldBack?(answer: Response): boolean;
  /** Starts our process and waits until clients reach it. */
  start(signal: AbortSignal): Promise<void>;
  stop(how: NodeJS.Signals): Promise<unknown>;
}

/** A suite's server, in the hands of one test. */
export class ScenarioBed {
  readonly driver: Driver;
  readonly server: ScenarioServer;
  readonly t: TestContext;
  readonly commands: Commands;

  constructor(
    server: ScenarioServer,
    { driver, t }: { readonly driver: Driver; readonly t: TestContext },
  ) {
    this.driver = driver;
    this.server = server;
    this.t = t;
    this.commands = new Commands(server);
  }

  /** Who makes objects in numbers. */
  newLoad(): LoadGenerator {
    return new LoadGenerator(this.server.direct ?? this.server);
  }

  get signal(): AbortSignal {
    return this.t.signal;
  }

  /** Runs kubectl; words are divided by blanks. Anything but success throws. */
  async kubectl(words: string, options?: CommandOptions): Promise<string> {
    return await this.commands.must("kubectl", words.split(" "), this.signal, options);
  }

  /** Runs kubectl, which must fail, and answers everything it says. */
  async refused(words: string, input?: string): Promise<string> {
    const options = input === undefined ? {} : { input };
    const { code, stdout, stderr } = await this.commands.run(
      "kubectl",
      words.split(" "),
      this.signal,
      options,
    );
    assert.notEqual(code, 0, `kubectl ${words} succeeded: ${stdout}`);
    return stdout + stderr;
  }

  async send(method: Method, path: string, body?: JsonObject): Promise<Response> {
    return await this.ask({ method, path, ...(body === undefined ? {} : { body }) });
  }

  /** Sends a request as the admin, again where it has reached nobody. */
  async ask(request: Request): Promise<Response> {
    return await until(
      async () => {
        const answer = await this.server.client.send(request, this.signal);
        return this.server.isHeldBack?.(answer) !== true && answer;
      },
      this.signal,
      `${request.method ?? "GET"} ${request.path} to reach our process`,
    );
  }

  /** Sends what has to succeed, and answers the object. */
  async must(method: Method, path: string, body?: JsonObject): Promise<Answered> {
    const { status, text, body: object } = await this.send(method, path, body);
    assert.ok(status < 300, `${method} ${path} answered ${status} ${text.slice(0, 500)}`);
    return object as Answered;
  }

  async namespace(name: string): Promise<string> {
    await createNamespace(this.server, name, this.signal);
    // What every namespace is given comes a moment later.
    const given = ["serviceaccounts/default", "configmaps/kube-root-ca.crt"];
    await until(async () => {
      const paths = given.map((one) => `/api/v1/namespaces/${name}/${one}`);
      const answers = await Promise.all(paths.map((path) => this.send("GET", path)));
      return answers.every(({ status }) => status === 200);
    }, this.signal);
    return name;
  }

  /** What a watch of the collection has told since `from`, up to the creation of a mark. */
  async toldSince(
    path: string,
    { from, mark }: { readonly from: string; readonly mark: JsonObject },
  ): Promise<readonly string[]> {
    using stream = await openStream(
      this.server,
      `${path}?watch=1&resourceVersion=${from}`,
      this.signal,
    );
    const { metadata } = await this.must("POST", path, mark);
    const told: string[] = [];
    for (;;) {
      const event = await stream.next(this.signal);
      assert.ok(event !== undefined, "the watch has ended");
      if (event.name === metadata.name) return told;
      told.push(`${event.type} ${event.name}`);
    }
  }

  /** The revision of a list of the collection. */
  async revisionOf(path: string): Promise<string> {
    const { metadata } = await this.must("GET", `${path}?limit=1`);
    return metadata.resourceVersion;
  }
}

export interface Answered {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly continue?: string;
    readonly remainingItemCount?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [member: string]: unknown;
  };
  readonly items?: readonly Answered[];
  readonly spec?: JsonObject;
  readonly status?: JsonObject;
}

/** Defines the tests of a suite. */
export type Scenarios = (
  it: (name: string, run: (bed: ScenarioBed) => Promise<void>) => void,
) => void;

export type ScenarioOptions = Pick<OursOptions, "flags" | "environment">;

/** Starts a server for a suite; ours by itself unless told. */
export type StartServer = (
  options: ScenarioOptions & { readonly driver: Driver },
  signal: AbortSignal,
) => Promise<ScenarioServer>;

/** Runs the tests on one server for each backend, both with programs of the oracle at hand. */
export function eachDriver(
  title: string,
  define: Scenarios,
  { start = startOurs, ...options }: ScenarioOptions & { readonly start?: StartServer } = {},
): void {
  const skip = reasonForNoOracle() ?? false;
  suite(title, { concurrency }, () => {
    for (const driver of drivers) {
      // What a suite does not say it has from its parent; the tests of one server come one after the other.
      suite(driver, { concurrency: 1 }, () => {
        const stop = new AbortController();
        let server: ScenarioServer | undefined;
        before(async () => {
          if (skip !== false) return;
          server = await start({ driver, ...options }, stop.signal);
        });
        after(async () => {
          await server?.[Symbol.asyncDispose]();
          stop.abort();
        });
        define((name, run) => {
          test(name, { skip }, async (t) => {
            if (server === undefined) throw new Error("there is no server");
            await run(new ScenarioBed(server, { driver, t }));
          });
        });
      });
    }
  });
}

/** Resident memory of a process, in MB. */
export function residentMegabytes(pid: number | undefined): number {
  const bytes = residentBytes(pid);
  assert.ok(bytes !== undefined, `nothing is known of process ${pid}`);
  return bytes / 1e6;
}

/** Tells a figure that is recorded and not judged. */
export function tell({ t }: ScenarioBed, what: string, value: number, unit: string): void {
  t.diagnostic(`${what}: ${value >= 100 ? Math.round(value) : value.toPrecision(3)} ${unit}`);
}
