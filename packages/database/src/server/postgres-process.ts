// One running `postgres`: its start, its end, and what it said.

import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Account } from "./account.ts";
import { PostgresServerError, type PostgresServerErrorCode } from "./errors.ts";
import { stopSignals, type StopMode, type Watchdog, type WatchedProcess } from "./watchdog.ts";

export interface PostgresProcessOptions {
  readonly bin: string;
  readonly account: Account | undefined;
  readonly dataDir: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  /** Called with each line the server logs. */
  readonly onLine?: (line: string) => void;
}

/** What a server child process is told of us: nothing of our own environment. */
export const serverEnvironment = { LC_ALL: "C", TZ: "UTC", PATH: "/usr/bin:/bin" } as const;

/**
 * The folder a child process is started in, as the child may name it. Under root the child is another user, who may
 * not pass through every folder above (root's own home, say); the folder it stands in it can always name. It
 * stands there because the folder is entered before the user is changed.
 */
export function seenFromInside(folder: string): string {
  return process.platform === "linux" ? "/proc/self/cwd" : folder;
}

const saidLinesMax = 50;

/** A `postgres` child process. It ends when told to, or by itself: `exited` says how. */
export class PostgresProcess {
  readonly pid: number;
  /** Resolves, never rejects, with the last words of the server once it is gone. */
  readonly exited: Promise<{ readonly said: readonly string[] }>;

  readonly #child: WatchedProcess;

  private constructor(
    child: WatchedProcess,
    pid: number,
    exited: Promise<{ said: readonly string[] }>,
  ) {
    this.#child = child;
    this.pid = pid;
    this.exited = exited;
  }

  /** Starts the server on a folder that `initdb` has prepared. `ready` rejects when it ends before it is. */
  static spawn(
    { bin, account, dataDir, port, settings, onLine }: PostgresProcessOptions,
    watchdog: Watchdog,
  ): { process: PostgresProcess; ready: Promise<void> } {
    const inForce: Record<string, string> = {
      listen_addresses: "127.0.0.1",
      port: String(port),
      unix_socket_directories: "",
      log_destination: "stderr",
      logging_collector: "off",
      log_line_prefix: "",
      lc_messages: "C",
      ...settings,
    };
    const args = Object.entries(inForce).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const child = watchdog.spawn(join(bin, "postgres"), ["-D", seenFromInside(dataDir), ...args], {
      cwd: dataDir,
      env: serverEnvironment,
      ...account,
    });

    const said: string[] = [];
    const { promise: ready, resolve: isReady, reject: notReady } = Promise.withResolvers<void>();
    const { promise: exited, resolve: hasExited } = Promise.withResolvers<{ said: string[] }>();
    ready.catch(() => {}); // Whoever started us may have stopped waiting.
    createInterface({ input: child.stderr }).on("line", (line) => {
      said.push(line);
      if (said.length > saidLinesMax) said.shift();
      onLine?.(line);
      if (line.includes("database system is ready to accept connections")) isReady();
    });
    child.once("error", (cause) => {
      notReady(
        new PostgresServerError("start-failed", `${join(bin, "postgres")} could not be run`, {
          cause,
        }),
      );
      hasExited({ said });
    });
    child.once("exit", () => watchdog.forget());
    child.once("close", () => {
      notReady(explain(said, { dataDir, port }));
      hasExited({ said });
    });
    return { process: new PostgresProcess(child, child.pid ?? 0, exited), ready };
  }

  /** Asks the server to end and waits until it has. Safe to call again, also more urgently. */
  async stop(mode: StopMode): Promise<void> {
    this.ref();
    if (this.pid !== 0) this.#child.kill(stopSignals[mode]);
    await this.exited;
  }

  /** Kills it as a crash would. */
  async kill(): Promise<void> {
    this.ref();
    if (this.pid !== 0) this.#child.kill("SIGKILL");
    await this.exited;
  }

  /** Whether this process stays alive for the server's sake. */
  ref(): void {
    this.#child.ref();
  }

  unref(): void {
    this.#child.unref();
    (this.#child.stderr as { unref?: () => void }).unref?.();
  }
}

const reasons: readonly (readonly [RegExp, PostgresServerErrorCode, (about: About) => string])[] = [
  [
    /could not bind .*Address already in use/,
    "port-taken",
    ({ port }) => `port ${port} on 127.0.0.1 is taken, so PostgreSQL cannot listen there`,
  ],
  [
    /No space left on device|Disk quota exceeded|Check free disk space/,
    "disk-full",
    ({ dataDir }) => `no space is left on the disk of ${dataDir}`,
  ],
  [
    /Read-only file system|Permission denied/,
    "data-dir-not-writable",
    ({ dataDir }) => `PostgreSQL may not write to its data folder ${dataDir}`,
  ],
  [
    // While another writes it; or for ever, if the machine went down in that moment.
    /lock file .* is empty/,
    "data-dir-in-use",
    ({ dataDir }) =>
      `postmaster.pid in ${dataDir} is empty: another PostgreSQL is starting there, or one was cut off as it did; if none runs, remove that file`,
  ],
  [
    /lock file .* already exists|pre-existing shared memory block/,
    "data-dir-in-use",
    ({ dataDir }) => `another PostgreSQL is running on the data folder ${dataDir}`,
  ],
  [
    /database files are incompatible with server/,
    "data-dir-other-version",
    ({ dataDir }) => `the data folder ${dataDir} belongs to another version of PostgreSQL`,
  ],
];

interface About {
  readonly dataDir: string;
  readonly port: number;
}

/** The one sentence for what the server, or `initdb`, said before it gave up. */
export function explain(said: readonly string[], about: About): PostgresServerError {
  const text = said.join("\n");
  const cause = new Error(text);
  for (const [sign, code, sentence] of reasons) {
    if (sign.test(text)) return new PostgresServerError(code, sentence(about), { cause });
  }
  const last = said.findLast((line) => /\b(FATAL|PANIC|ERROR|error):/.test(line)) ?? said.at(-1);
  return new PostgresServerError(
    "start-failed",
    `PostgreSQL did not start on ${about.dataDir}: ${last ?? "it said nothing"}`,
    { cause },
  );
}
