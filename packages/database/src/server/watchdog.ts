// Ends PostgreSQL when we cannot: killed with -9, we run no handler, but our end of a pipe closes.

import { spawn, type ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";

/** How the server is ended: `fast` saves its state, `immediate` leaves recovery to the next start. */
export type StopMode = "fast" | "immediate";

export const stopSignals = { fast: "SIGINT", immediate: "SIGQUIT" } as const satisfies Record<
  StopMode,
  NodeJS.Signals
>;

/**
 * A small shell process that outlives ours by as long as it takes to end the watched process, and
 * to remove `removes` if given. It watches one process at a time, and is told to go when all is done.
 */
export class Watchdog {
  readonly #child: ChildProcess;
  readonly #input: Writable;

  constructor({ mode, removes = "" }: { readonly mode: StopMode; readonly removes?: string }) {
    const signal = stopSignals[mode].replace(/^SIG/, "");
    this.#child = spawn("/bin/sh", ["-c", script, "keelson-postgres-watchdog", signal, removes], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true, // A Ctrl-C in the terminal is for us, not for it.
      cwd: "/",
      env: { PATH: "/usr/bin:/bin:/usr/local/bin" },
    });
    const input = this.#child.stdin;
    if (input === null) throw new TypeError("a child with a piped stdin has one");
    this.#input = input;
    this.#input.on("error", () => {}); // It was killed: then nobody watches, which is no failure.
    this.#child.on("error", () => {});
    this.#child.unref();
  }

  /**
   * Starts a program that is watched from its first moment: it reports itself before it becomes the program. Were it
   * for us to report it, a kill -9 in between would leave it to nobody.
   */
  spawn(program: string, args: readonly string[], options: WatchedOptions): WatchedProcess {
    return spawn("/bin/sh", ["-c", reportAndRun, "sh", program, ...args], {
      stdio: ["ignore", "ignore", "pipe", this.#input],
      detached: true, // A Ctrl-C in the terminal is for us; we end it in our own order.
      ...options,
    }) as WatchedProcess;
  }

  /** What it watched has ended: a pid may be somebody else's soon. */
  forget(): void {
    this.#input.write("0\n");
  }

  /** Everything ended in order: nothing to end, nothing to remove. */
  dismiss(): void {
    this.#input.end("done\n");
  }
}

export interface WatchedOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
}

/** A child process whose words can be read. */
export type WatchedProcess = ChildProcess & { readonly stderr: Readable };

const reportAndRun = `echo "$$" >&3; exec 3>&-; exec "$@"`;

const script = `
pid=0
while read -r line; do
  [ "$line" = done ] && exit 0
  pid=$line
done
if [ "$pid" != 0 ]; then
  kill -s "$1" "$pid" 2>/dev/null
  tries=0
  while kill -s 0 "$pid" 2>/dev/null; do
    sleep 0.1
    tries=$((tries + 1))
    [ "$tries" = 100 ] && kill -s QUIT "$pid" 2>/dev/null
    [ "$tries" = 200 ] && kill -s KILL "$pid" 2>/dev/null
  done
fi
[ -n "$2" ] && rm -rf "$2"
exit 0
`;
