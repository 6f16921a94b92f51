// How much of the machine's cores each program of a run had, and how long it was kept waiting for one.

import { existsSync, readdirSync, readFileSync } from "node:fs";

const everyMs = 500;

/** Cores on average: 0.5 is half of one all the time. */
export interface Cores {
  readonly had: number;
  /** How many threads were ready and had none, on average. */
  readonly waitedFor: number;
}

interface Seen {
  readonly name: string;
  readonly firstHad: number;
  readonly firstWaited: number;
  had: number;
  waited: number;
}

/** Looks at every process below this one again and again, since some end before it does. Linux alone tells; elsewhere it knows nothing. */
export class CoreMeter implements Disposable {
  readonly #names: ReadonlyMap<number, string>;
  readonly #startedAtMs = performance.now();
  readonly #seen = new Map<number, Seen>();
  readonly #timer: NodeJS.Timeout;

  /** Processes by the names to be given to them; the others have their programs' names. */
  constructor(names: ReadonlyMap<number, string>) {
    this.#names = names;
    this.#look();
    this.#timer = setInterval(() => this.#look(), everyMs);
  }

  /** By program, those that did most first. */
  read(): ReadonlyMap<string, Cores> {
    this.#look();
    const seconds = (performance.now() - this.#startedAtMs) / 1_000;
    const sums = new Map<string, { had: number; waitedFor: number }>();
    for (const { name, had, waited, firstHad, firstWaited } of this.#seen.values()) {
      const sum = sums.get(name) ?? { had: 0, waitedFor: 0 };
      sum.had += (had - firstHad) / 1e9 / seconds;
      sum.waitedFor += (waited - firstWaited) / 1e9 / seconds;
      sums.set(name, sum);
    }
    return new Map([...sums].toSorted(([, a], [, b]) => b.had - a.had));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    if (!existsSync("/proc/self/schedstat")) return;
    for (const pid of descendantsOf(process.pid)) {
      try {
        const { had, waited } = scheduled(pid);
        const seen = this.#seen.get(pid);
        if (seen === undefined) {
          const name = this.#names.get(pid) ?? readFileSync(`/proc/${pid}/comm`, "utf8").trim();
          // Whoever comes later was not there before: all that it had counts.
          const isNew = performance.now() - this.#startedAtMs > everyMs / 2;
          const [firstHad, firstWaited] = isNew ? [0, 0] : [had, waited];
          this.#seen.set(pid, { name, firstHad, firstWaited, had, waited });
        } else
          Object.assign(seen, {
            had: Math.max(had, seen.had),
            waited: Math.max(waited, seen.waited),
          });
      } catch {
        // It has ended meanwhile; what it had up to the last look counts.
      }
    }
  }
}

/** Nanoseconds that all threads of a process have run, and have waited for a core. */
function scheduled(pid: number): { readonly had: number; readonly waited: number } {
  let [had, waited] = [0, 0];
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8");
    const [ran = 0, queued = 0] = text.split(" ").map(Number);
    had += ran;
    waited += queued;
  }
  return { had, waited };
}

function descendantsOf(root: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      // After the program's name in brackets: its state, its parent.
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // Ended between the two looks.
    }
  }
  const found: number[] = [];
  const waiting = [root];
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const below = children.get(pid) ?? [];
    found.push(...below);
    waiting.push(...below);
  }
  return found;
}
