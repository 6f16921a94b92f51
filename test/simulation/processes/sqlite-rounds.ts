// Servers on one SQLite file, killed at random instants while they write.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Random, seededRandom } from "@keelson/base";
import { type Happening, type History, type HistoryRecord } from "../history.ts";
import { Observer, SqliteLook } from "../world/look.ts";
import { resumed, watchPlans } from "./plans.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface ProcessRoundsOptions {
  readonly seed: string;
  /** Kills, or other misfortunes. */
  readonly rounds: number;
  /** The store to run: the URL of its `index.ts`. */
  readonly module?: string;
}

export const storeModule = import.meta.resolve("@keelson/store");

/** Runs a server on a file, kills it, and runs the next, which goes on where the last was; the last one ends in peace. */
export async function killSqliteServers(options: ProcessRoundsOptions): Promise<History> {
  const { seed, rounds, module = storeModule } = options;
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "keelson-kill-"));
  const path = join(folder, "store.db");
  const own: HistoryRecord[] = [];
  const record = (happening: Happening): void => {
    own.push({ ...happening, at: Number(process.hrtime.bigint()) });
  };
  const recorder = { record };
  const look = { current: undefined as SqliteLook | undefined };
  const observer = new Observer(
    {
      sight: () => need(look.current).sight(),
      tables: () => need(look.current).tables(),
    },
    recorder,
  );
  const workers: WorkerProcess[] = [];
  let watches = watchPlans();
  try {
    for (let round = 0; round <= rounds; round++) {
      const name = `server ${round}`;
      const database = { type: "sqlite", path } as const;
      const config = { name, seed: `${seed}/${round}`, module, database, clients: 6, watches };
      const worker = new WorkerProcess(config);
      workers.push(worker);
      await worker.started();
      if (worker.refusal !== undefined) throw new Error(`${name}: ${worker.refusal}`);
      using sight = new SqliteLook(path);
      look.current = sight;
      if (round === rounds) {
        await endInPeace(worker, observer);
      } else {
        if (random.float() < 0.3) workers.push(await intrude(worker));
        await misfortune(random, worker, observer);
        record({ type: "gone", server: name });
        const state = sight.integrity();
        if (state !== "ok") throw new Error(`after the kill of ${name} the file is ${state}`);
      }
      watches = resumed(watches, worker.records);
    }
    using sight = new SqliteLook(path);
    look.current = sight;
    await observer.observe();
    const records = [...own, ...workers.flatMap((worker) => worker.records)];
    return { records: records.sort((a, b) => a.at - b.at), tables: await observer.tables() };
  } finally {
    for (const worker of workers) await worker.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Somewhere in its work the server is killed; sometimes the log was cut before. */
async function misfortune(
  random: Random,
  worker: WorkerProcess,
  observer: Observer,
): Promise<void> {
  if (random.float() < 0.3) {
    await worker.until(() => worker.answers > 20, "work");
    const head = await observer.observe();
    await worker.order({ order: "cut", upTo: Math.max(1, head - random.integer(30)) });
  }
  const count = worker.records.length + 1 + random.integer(400);
  await worker.until(() => worker.records.length >= count, "the instant of its kill");
  await worker.kill();
}

/** A second server tries the file. It is refused; if not, the history has it that two have served. */
async function intrude({ config }: WorkerProcess): Promise<WorkerProcess> {
  const intruder = new WorkerProcess({ ...config, name: `intruder on ${config.name}` });
  await intruder.started();
  await intruder.kill();
  const { refusal } = intruder;
  if (refusal !== undefined && !refusal.startsWith("Locked: "))
    throw new Error(`the intruder was refused for another reason: ${refusal}`);
  return intruder;
}

async function endInPeace(worker: WorkerProcess, observer: Observer): Promise<void> {
  await worker.until(() => worker.answers > 100, "work");
  await worker.order({ order: "finish" });
  const head = await observer.observe();
  await worker.order({ order: "settle", head });
  await worker.leave();
}

function need<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("nobody serves the file");
  return value;
}
