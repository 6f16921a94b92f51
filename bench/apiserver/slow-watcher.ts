// What one watcher that reads an event a second costs the others (LOAD-2): in turns without it and beside it.

import { startThrowawayPostgres } from "@keelson/database/testing";

import { drivers, startOurs, type Driver } from "../../test/apiserver/ours.ts";
import { SlowWatcher } from "../../test/apiserver/scenarios/slow-watcher.ts";
import { duel } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { chosenOf, numberOf, type Run } from "../suite.ts";
import { Contender } from "./contenders.ts";

const path = "/api/v1/namespaces/default/configmaps";

export async function bench(run: Run): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const driver of chosenOf(run, "driver", drivers)) rows.push(await ofOne(run, driver));
  return rows;
}

async function ofOne(run: Run, driver: Driver): Promise<Row> {
  const watchers = numberOf(run, "watchers", run.isQuick ? 60 : 1_000);
  const seconds = numberOf(run, "seconds", run.isQuick ? 3 : 30);
  const rounds = numberOf(run, "rounds", run.isQuick ? 1 : 4);
  await using undo = new AsyncDisposableStack();
  const databaseUrl = driver === "postgresql" ? await syncing(undo, run.signal) : undefined;
  const server = undo.use(await startOurs({ driver, databaseUrl }, run.signal));
  await using contender = new Contender(driver, server, { pids: () => [], undo: undo.move() });
  run.say(
    `${driver}: 100 writes a second, ${watchers} watchers, ${rounds} rounds of ${seconds} s each way`,
  );
  let turn = 0;
  const p99 = async (ms: number): Promise<number> => {
    const options = { verb: "watch", path, rate: 100, watchers: watchers - 1 } as const;
    const prefix = `turn-${(turn += 1)}`;
    const result = await contender.load({ ...options, prefix, seconds: ms / 1_000 }, run.signal);
    return result.p99;
  };
  const beside = async (ms: number): Promise<number> => {
    const list = { method: "GET", path: `${path}?limit=1` } as const;
    const { body } = await server.client.send(list, run.signal);
    const { resourceVersion: from } = (body as { metadata: { resourceVersion: string } }).metadata;
    await using _slow = await SlowWatcher.open({ server, path, from, everyMs: 1_000 }, run.signal);
    return await p99(ms);
  };
  const { value, baseline, ratio, spread } = await duel(
    { ours: beside, other: p99 },
    { rounds, ms: seconds * 1_000 },
  );
  const [least, most] = spread.map((one) => one.toFixed(2));
  const name = `${driver}: the others' p99 beside a slow watcher (${least} to ${most} of without)`;
  return judged({ name, value, baseline, ratio, unit: "ms" }, { ratioAtMost: 1.2 });
}

/** A database that syncs, as one that is kept does. */
async function syncing(undo: AsyncDisposableStack, signal: AbortSignal): Promise<string> {
  const options = { flavour: "embedded", fsync: true } as const;
  const server = undo.use(await startThrowawayPostgres(options, signal));
  return undo.use(await server.createDatabase()).url;
}
