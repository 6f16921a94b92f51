// What `keelson up` costs while nobody asks anything of it.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { KeelsonProcess, temporaryFolder } from "../test/e2e/keelson-process.ts";
import { judged, type Row } from "./report.ts";
import { memoryRows } from "./resident.ts";
import { numberOf, type Run } from "./suite.ts";

const processorGoalPercent = 2;
const memoryGoalMb = 350;
/** What Linux counts processor time in. */
const ticksPerSecond = 100;

/** Rows: share of a core and memory of the process, and of its PostgreSQL; a while after the start, over `--seconds`. */
export async function bench(run: Run): Promise<readonly Row[]> {
  const seconds = numberOf(run, "seconds", run.isQuick ? 5 : 120);
  await using folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  await using keelson = new KeelsonProcess(dataDir);
  await keelson.ready(run.signal);
  run.say(`${seconds} s for the start to settle`);
  await wait(seconds * 1_000, undefined, { signal: run.signal });
  const [postmaster = ""] = readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split(
    "\n",
  );
  const ticks = (): { readonly own: number; readonly ofPostgres: number } => {
    const processes = readProcesses();
    const ofPostgres = ticksOfTree(processes, Number(postmaster));
    // Its PostgreSQL is one of its descendants, or nobody's.
    const isBelow = treeOf(processes, keelson.pid).some(({ pid }) => pid === Number(postmaster));
    return {
      own: ticksOfTree(processes, keelson.pid) - (isBelow ? ofPostgres : 0),
      ofPostgres,
    };
  };
  const [before, begunMs] = [ticks(), performance.now()];
  run.say(`${seconds} s of nothing`);
  await wait(seconds * 1_000, undefined, { signal: run.signal });
  const [after, endedMs] = [ticks(), performance.now()];
  const percent = (used: number): number =>
    (used / ticksPerSecond / ((endedMs - begunMs) / 1_000)) * 100;
  const own = percent(after.own - before.own);
  const ofPostgres = percent(after.ofPostgres - before.ofPostgres);
  const [memory, ...others] = memoryRows(keelson.pid, "idle");
  return [
    judged(
      { name: "idle, share of a core, PostgreSQL included", value: own + ofPostgres, unit: "%" },
      { atMost: processorGoalPercent },
    ),
    judged({ name: "idle, share of a core, PostgreSQL", value: ofPostgres, unit: "%" }),
    ...(memory === undefined ? [] : [judged(memory, { atMost: memoryGoalMb })]),
    ...others,
  ];
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

function readProcesses(): readonly Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        // A program's name may have anything in it, and stands in parentheses.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const [parent, user, system] = [fields[1], fields[11], fields[12]].map(Number);
        return [{ pid: Number(name), parent: parent ?? 0, ticks: (user ?? 0) + (system ?? 0) }];
      } catch {
        return []; // It has ended.
      }
    });
}

function treeOf(processes: readonly Process[], root: number): readonly Process[] {
  const own = processes.filter(({ pid }) => pid === root);
  const below = processes.filter(({ parent }) => parent === root);
  return [...own, ...below.flatMap(({ pid }) => treeOf(processes, pid))];
}

function ticksOfTree(processes: readonly Process[], root: number): number {
  return treeOf(processes, root).reduce((sum, { ticks }) => sum + ticks, 0);
}
