// Creates and updates, one awaited writer and 64 at once, beside what the machine itself can do.

import type { JsonObject } from "@keelson/base";
import { Body, type Revision, type Store } from "@keelson/store";
import { closedLoop, type Contender, type Duel, duel, Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { chosenOf, numberOf, type Run } from "../suite.ts";
import { backendNames, fill, keyOf, never, openPlace, type Place, valueOf } from "./fixtures.ts";
import { type RawRow, rawRow, type RawWriter, withKey } from "./raw.ts";
import { rawPostgres } from "./raw-postgres.ts";
import { rawSqlite } from "./raw-sqlite.ts";

const patterns = 2048;

/** Values to choose from, made before the clock runs; encoding them is part of what is measured, on our side. */
interface Patterns {
  readonly values: readonly (readonly JsonObject[])[];
  readonly rawRows: readonly (readonly Omit<RawRow, "namespace" | "name">[])[];
}

function makePatterns(): Patterns {
  const versions = <T>(of: (n: number, version: number) => T): T[][] =>
    [1, 2].map((version) => Array.from({ length: patterns }, (_, n) => of(n, version)));
  return { values: versions(valueOf), rawRows: versions(rawRow) };
}

/** Objects that the updates go around. */
const updated = 2048;

/** The machine's limit is measured in transactions of as many writes as there are writers. */
const goals = { 1: { ratioAtLeast: 0.7 }, 64: { ratioAtLeast: 0.6 } } as const;

export async function bench(run: Run): Promise<readonly Row[]> {
  const rounds = numberOf(run, "rounds", run.isQuick ? 5 : 30);
  const ms = numberOf(run, "round-ms", run.isQuick ? 300 : 500);
  const made = makePatterns();
  const rows: Row[] = [];
  for (const name of chosenOf(run, "backend", backendNames)) {
    for (const verb of ["create", "update"] as const) {
      for (const writers of [1, 64] as const) {
        // Each from an empty database, both sides alike: tables grow, and with them what a write costs.
        await using place = await openPlace(name);
        const latencies = new Latencies();
        const result = await measure(place, made, { verb, writers, rounds, ms, latencies });
        const title = `${name} ${verb}, ${writers === 1 ? "1 writer" : `${writers} writers`}`;
        run.say(`${title}: ratios from ${result.spread.map((r) => r.toFixed(2)).join(" to ")}`);
        rows.push(judged({ name: title, unit: "/s", ...figures(result) }, goals[writers]));
        for (const share of [0.5, 0.99]) {
          const value = latencies.percentile(share);
          rows.push({ name: `${title}, p${share * 100}`, value, unit: "ms" });
        }
      }
    }
  }
  return rows;
}

async function measure(
  place: Place,
  { values, rawRows }: Patterns,
  {
    verb,
    writers,
    rounds,
    ms,
    latencies,
  }: {
    readonly verb: "create" | "update";
    readonly writers: number;
    readonly rounds: number;
    readonly ms: number;
    readonly latencies: Latencies;
  },
): Promise<Duel> {
  const store = await place.open();
  const database = await place.prepare();
  await using raw = place.name === "sqlite" ? rawSqlite(database) : await rawPostgres(database);
  const call = verb === "create" ? creator(store, values) : await updater(store, values, writers);
  const rawCall =
    verb === "create" ? rawCreator(raw, rawRows, writers) : await rawUpdater(raw, rawRows, writers);
  const ours: Contender = (ms) => closedLoop(writers, call, { ms, latencies });
  const other: Contender = async (ms) => (await closedLoop(1, rawCall, { ms })) * writers;
  return await duel({ ours, other }, { rounds, ms }); // Awaited: `raw` is closed on the way out.
}

function creator(store: Store, values: Patterns["values"]): () => Promise<unknown> {
  let n = 0;
  return () => {
    const key = keyOf(n);
    const value = pick(values, 0, n);
    n += 1;
    return store.create(key, Body.of(value), never);
  };
}

/** Every writer goes around objects of its own, from one version to the other and back. */
async function updater(
  store: Store,
  values: Patterns["values"],
  writers: number,
): Promise<(writer: number) => Promise<void>> {
  await fill(store, { to: updated });
  const revisions: Revision[] = [];
  for (let n = 0; n < updated; n += 1) revisions.push(await store.revisionOf(keyOf(n), never));
  const turns = Array.from({ length: writers }, () => 0);
  return async (writer) => {
    const turn = turns[writer] ?? 0;
    turns[writer] = turn + 1;
    const { n, version } = updateOf({ writer, writers, turn });
    const body = Body.of(pick(values, version, n));
    const expect = { revision: revisions[n] ?? 0 };
    const { revision } = await store.update(keyOf(n), { body, expect }, never);
    revisions[n] = revision;
  };
}

function rawCreator(
  raw: RawWriter,
  rawRows: Patterns["rawRows"],
  batch: number,
): () => Promise<void> {
  let n = 0;
  return () => {
    const rows = Array.from({ length: batch }, (_, i) => withKey(pick(rawRows, 0, n + i), n + i));
    n += batch;
    return raw.create(rows);
  };
}

/** A turn of all writers is one transaction, with the same objects as theirs. */
async function rawUpdater(
  raw: RawWriter,
  rawRows: Patterns["rawRows"],
  writers: number,
): Promise<() => Promise<void>> {
  for (let n = 0; n < updated; n += 1) await raw.create([withKey(pick(rawRows, 0, n), n)]);
  let turn = 0;
  return () => {
    const updates = Array.from({ length: writers }, (_, writer) =>
      updateOf({ writer, writers, turn }),
    );
    turn += 1;
    return raw.update(
      updates.map(({ n, version }) => withKey(pick(rawRows, version, n), n)),
      updates.map(({ n, version }) => withKey(pick(rawRows, 1 - version, n), n)),
    );
  };
}

/** Which object a writer updates at its turn, and to which version. */
function updateOf({
  writer,
  writers,
  turn,
}: {
  readonly writer: number;
  readonly writers: number;
  readonly turn: number;
}): { readonly n: number; readonly version: number } {
  const own = updated / writers;
  return { n: writer * own + (turn % own), version: (Math.floor(turn / own) + 1) % 2 };
}

function pick<T>(versions: readonly (readonly T[])[], version: number, n: number): T {
  const found = versions[version]?.[n % patterns];
  if (found === undefined) throw new Error(`there is no pattern ${n} of version ${version}`);
  return found;
}

function figures({ value, baseline, ratio }: Duel): Pick<Duel, "value" | "baseline" | "ratio"> {
  return { value, baseline, ratio };
}
