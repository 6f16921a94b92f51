// Operators as processes, `keelson serve --roles operator`, before a cluster and a PostgreSQL that both tell who asked
// them for what.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startThrowawayPostgres, type ThrowawayPostgres } from "@keelson/database/testing";
import { KeelsonProcess, temporaryFolder } from "../e2e/keelson-process.ts";
import { TcpProxy } from "../tools/tcp-proxy.ts";
import { until } from "../tools/until.ts";
import { startAuditedCluster, type AuditedCluster, type Write } from "./audited-cluster.ts";
import { applications, namespace, OperatorBed } from "./operator-bed.ts";

export type OperatorName = "a" | "b";

/** Of the operators' own logins. */
const loginPassword = "known-to-the-operators-alone";

/** One process, and its ways to the cluster and to PostgreSQL, which are its own. */
export interface OperatorProcess extends AsyncDisposable {
  readonly name: OperatorName;
  readonly process: KeelsonProcess;
  readonly way: TcpProxy;
  /** What it counts, as anybody may read it. */
  metrics(): Promise<string>;
  /** As its metrics say. */
  leads(): Promise<boolean>;
}

/** A PostgreSQL that logs every statement, with when and by whom. */
interface LoggedPostgres extends AsyncDisposable {
  readonly server: ThrowawayPostgres;
  readonly lines: readonly string[];
  /** Told of each line until the answer is disposed of. */
  onLine(listener: (line: string) => void): Disposable;
}

async function startLoggedPostgres(signal: AbortSignal): Promise<LoggedPostgres> {
  const lines: string[] = [];
  const listeners = new Set<(line: string) => void>();
  const server = await startThrowawayPostgres(
    {
      flavour: "embedded",
      fsync: false,
      settings: { log_statement: "all", log_line_prefix: "%n %u " },
      onLine: (line) => {
        lines.push(line);
        for (const listener of listeners) listener(line);
      },
    },
    signal,
  );
  return {
    server,
    lines,
    onLine: (listener) => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

export class ProcessBed implements AsyncDisposable {
  readonly cluster: AuditedCluster;
  readonly apps: OperatorBed;
  readonly #postgres: LoggedPostgres;
  readonly #folder: string;
  readonly #kept: AsyncDisposableStack;
  readonly #signal: AbortSignal;
  #pair: readonly OperatorProcess[] = [];

  private constructor(
    parts: { cluster: AuditedCluster; apps: OperatorBed; postgres: LoggedPostgres; folder: string },
    kept: AsyncDisposableStack,
    signal: AbortSignal,
  ) {
    this.cluster = parts.cluster;
    this.apps = parts.apps;
    this.#postgres = parts.postgres;
    this.#folder = parts.folder;
    this.#kept = kept;
    this.#signal = signal;
  }

  static async prepare(signal: AbortSignal): Promise<ProcessBed> {
    await using setup = new AsyncDisposableStack();
    const postgres = setup.use(await startLoggedPostgres(signal));
    const folder = setup.use(await temporaryFolder()).path;
    const cluster = setup.use(await startAuditedCluster(signal));
    const apps = setup.use(
      await OperatorBed.prepare({ cluster, postgres: postgres.server }, signal),
    );
    return new ProcessBed({ cluster, apps, postgres, folder }, setup.move(), signal);
  }

  /** Its name is that of its user in the cluster, and in PostgreSQL that of a login that acts for the administrator. */
  async start(name: OperatorName): Promise<OperatorProcess> {
    const { cluster } = this;
    await using setup = new AsyncDisposableStack();
    const way = setup.use(await TcpProxy.to(cluster.port));
    const dataDir = join(this.#folder, name);
    await mkdir(dataDir, { recursive: true });
    const kubeconfig = join(this.#folder, `${name}.kubeconfig`);
    await writeFile(kubeconfig, await cluster.kubeconfigOf(name, way.port));
    const process = setup.use(
      new KeelsonProcess(dataDir, {
        command: "serve",
        flags: ["--roles", "operator", "--kubeconfig", kubeconfig],
        environment: {
          BASE_DOMAIN: "example.com",
          OPERATOR_NAMESPACE: namespace,
          DB_ADMIN_URL: await this.#login(name),
        },
      }),
    );
    await process.said(/"message":"ready"/);
    const [, metrics = ""] = /"metrics":"([^"]+)"/.exec(process.output) ?? [];
    const kept = setup.move();
    const read = async (): Promise<string> => {
      const answer = await fetch(`${metrics}/metrics`, { signal: this.#signal });
      return await answer.text();
    };
    return {
      name,
      process,
      way,
      metrics: read,
      leads: async () => /^plattr_leader 1$/m.test(await read()),
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  }

  /** Two of them; which of them leads is up to them. */
  async startPair(): Promise<void> {
    this.#pair = await Promise.all([this.start("a"), this.start("b")]);
    for (const one of this.#pair) this.#kept.use(one);
  }

  /** Calls `act` at once when PostgreSQL is asked for what matches; resolves with who asked, and the other. */
  async whenAsked(
    pattern: RegExp,
    act: (asker: OperatorProcess) => void,
  ): Promise<[OperatorProcess, OperatorProcess]> {
    let asked: [OperatorProcess, OperatorProcess] | undefined;
    using _listener = this.#postgres.onLine((line) => {
      if (asked !== undefined || !pattern.test(line)) return;
      const [a, b] = this.#pair;
      if (a === undefined || b === undefined) return;
      asked = / a LOG: /.test(line) ? [a, b] : [b, a];
      act(asked[0]);
    });
    return await until(() => asked, this.#signal);
  }

  /**
   * Whoever changed something in the cluster or in PostgreSQL had won the Lease for it: each had its turn at most as often,
   * and nobody came between. What was on its way to a connection when its process was stopped may be a question to
   * PostgreSQL, or a transaction that ends where it began.
   */
  async checkTurns(): Promise<void> {
    const isWork = ({ user, what }: Write) => /^[ab]$/.test(user) && !what.includes("/leases");
    const inCluster = (await this.cluster.writes()).filter(isWork);
    const inDatabase = this.#statements().filter(
      (one) => isWork(one) && !/^(?:SELECT|BEGIN)\b|^$/.test(one.what),
    );
    const usersOf = (log: readonly Write[]) => new Set(log.map(({ user }) => user));
    assert.deepEqual(usersOf(inCluster), usersOf(inDatabase)); // Whoever works does so in both.
    const work = [...inCluster, ...inDatabase].toSorted((one, other) => one.atMs - other.atMs);
    const turns: { readonly user: string; readonly did: string[] }[] = [];
    for (const { user, what, atMs } of work) {
      if (turns.at(-1)?.user !== user) turns.push({ user, did: [] });
      turns.at(-1)?.did.push(`${new Date(atMs).toISOString()} ${what}`);
    }
    const told = turns.map(({ user, did }) =>
      [`${user} did ${did.length} things:`, ...did.slice(0, 5)].join("\n  "),
    );
    for (const { name, process } of this.#pair) {
      const won = process.output.split("leadership won").length - 1;
      const had = turns.filter(({ user }) => user === name).length;
      assert.ok(had > 0 && had <= won, `${name} had won ${won} times\n${told.join("\n")}`);
    }
  }

  /**
   * No password is where somebody could read it: not in what the operators say, count, or write into the cluster outside
   * of Secrets, and not in what PostgreSQL is told, which is what it keeps of them.
   */
  async checkSecrets(apps: readonly string[], living: OperatorProcess): Promise<void> {
    const passwords: string[] = [];
    for (const name of apps) {
      const { DB_PASSWORD = "" } = (await this.apps.secret(`${name}-db`)) ?? {};
      assert.match(DB_PASSWORD, /^[0-9a-f]{64}$/);
      passwords.push(DB_PASSWORD);
    }
    const told = this.#postgres.lines.join("\n");
    assert.match(told, / PASSWORD 'SCRAM-SHA-256\$/); // It would be seen there.
    const shown = [
      ...this.#pair.map(({ process }) => process.output),
      await living.metrics(),
      JSON.stringify(await this.#readable()),
    ];
    for (const password of passwords) {
      for (const text of [told, ...shown]) assert.equal(text.includes(password), false);
    }
    for (const text of shown) assert.equal(text.includes(loginPassword), false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kept.disposeAsync();
  }

  /** What of the cluster is no secret. */
  async #readable(): Promise<unknown[]> {
    const kinds = [
      { apiVersion: "events.k8s.io/v1", kind: "Event" },
      { apiVersion: "v1", kind: "ConfigMap" },
      { apiVersion: "apps/v1", kind: "Deployment" },
      applications,
    ];
    const all: unknown[] = [];
    for (const kind of kinds) {
      const { items } = await (await this.apps.resource(kind)).list({}, this.#signal);
      assert.ok(items.length > 0 || kind.kind === "ConfigMap", kind.kind);
      all.push(items);
    }
    return all;
  }

  #statements(): readonly Write[] {
    return this.#postgres.lines.flatMap((line) => {
      const [, seconds, user = "", what = ""] =
        /^(\d+\.\d+) (\S+) LOG: {2}(?:statement|execute [^:]+): (.*)/.exec(line) ?? [];
      return user === "" ? [] : [{ atMs: Number(seconds) * 1000, user, what }];
    });
  }

  async #login(name: OperatorName): Promise<string> {
    const { database } = this.apps;
    const { adminName } = database;
    await database.query(
      `CREATE ROLE ${name} LOGIN PASSWORD '${loginPassword}' IN ROLE "${adminName}"; ALTER ROLE ${name} SET role = "${adminName}"`,
    );
    return database.urlOf(name, loginPassword);
  }
}
