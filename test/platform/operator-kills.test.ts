// The operator is ended before and after every call that it makes, and another goes on where it was: the end is always that
// of a life without any of it; and where the object is deleted before another comes, nothing is left. Some calls in the gate,
// by a seed, and before a real Kubernetes in one of the lives; all of them with KEELSON_TEST_KILLS=all, or those that have a
// text in them: KEELSON_TEST_KILLS='s3 createBucket'.

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "@keelson/base";
import { clusterSuite, isOracle } from "../tools/test-cluster.ts";
import { Mortality, textOf, type KillPoint } from "./kill-points.ts";
import {
  endOf,
  find,
  hasStorage,
  lives,
  prepareProviders,
  remove,
  untilOver,
  type Life,
  type Stage,
  type Subject,
} from "./kill-lives.ts";
import { OperatorBed } from "./operator-bed.ts";
import { Traces } from "./traces.ts";

const {
  KEELSON_TEST_KILLS: wanted = "1",
  KEELSON_TEST_LANES: lanes = "1",
  KEELSON_TEST_SEED: seed = String(Date.now()),
} = process.env;

const isChance = /^\d+$/.test(wanted);

/** Nobody waits longer for one life. */
const lifeMsMax = 400_000;

/** Lives that are all disturbed in one stage, and where; abandoned: the object is deleted while nobody is there. */
interface Plan {
  readonly life: Life;
  readonly stage: Stage;
  /** Those that it takes to come there and to be gone again. */
  readonly stages: readonly Stage[];
  readonly isAbandoned: boolean;
}

/** A stage in which nothing happens: what it ends in, and the calls that it takes. */
interface Undisturbed {
  readonly end: unknown;
  readonly points: readonly KillPoint[];
}

clusterSuite("an operator that is ended", () => {
  for (const life of isOracle && isChance ? [seededRandom(seed).pick(lives)] : lives) {
    test(`P29: at any call in the life of ${life.name}`, async (t) => {
      await using kept = new AsyncDisposableStack();
      const beds: Lane[] = [];
      for (let lane = 0; lane < Number(lanes); lane += 1) {
        beds.push(await openLane(kept, life, t.signal));
      }
      // Each with the others there: they share a server.
      for (const { traces } of beds) await traces.accept();
      const random = seededRandom(`${seed} ${life.name}`);
      const plans = isChance ? random.shuffle(plansOf(life)).slice(0, 1) : plansOf(life);
      const failures: string[] = [];
      let kills = 0;
      for (const plan of plans) {
        const startedMs = performance.now();
        const { end, points } = await liveUndisturbed(beds, plan);
        // Which calls there are depends on when changes are heard of: some are not made again.
        const enough = isChance ? Number(wanted) : Infinity;
        const chosen = isChance
          ? random.shuffle(points)
          : points.filter((point) => wanted === "all" || textOf(point).includes(wanted));
        const tally = new Tally();
        const waiting = chosen.values();
        const run = async (lane: Lane): Promise<void> => {
          for (const point of waiting) {
            if (tally.kills >= enough) return;
            try {
              const isKilled = await liveThrough(lane, { plan, point, end });
              tally.count(point, isKilled);
            } catch (error) {
              t.signal.throwIfAborted();
              const failure = `${nameOf(plan)}, ended ${textOf(point)}: ${(error as Error).message}`;
              failures.push(failure);
              console.error(failure); // A long run tells of it at once.
              await lane.traces.accept(); // Told once: the next life is not to blame.
            }
          }
        };
        await Promise.all(beds.map(run));
        kills += tally.kills;
        const seconds = Math.round((performance.now() - startedMs) / 1000);
        const told = `${nameOf(plan)}: ${points.length} points, ended at ${tally.text}; ${seconds} s`;
        t.diagnostic(`${told}, seed ${seed}`);
        if (!isChance) console.error(told);
      }
      assert.deepEqual(failures, []);
      assert.ok(kills > 0);
    });
  }
});

interface Lane {
  readonly bed: OperatorBed;
  readonly traces: Traces;
  readonly signal: AbortSignal;
}

async function openLane(
  kept: AsyncDisposableStack,
  { hasLogin }: Life,
  signal: AbortSignal,
): Promise<Lane> {
  const bed = kept.use(await OperatorBed.prepare({ hasStorage, hasLogin }, signal));
  await prepareProviders(bed, signal);
  return { bed, traces: await Traces.startingAt(bed, signal), signal };
}

function plansOf(life: Life): readonly Plan[] {
  return life.stages
    .filter(({ isSafe = false }) => !isSafe)
    .flatMap((stage) => {
      const stages = life.stages.filter((one) => one === stage || one.isExtra !== true);
      const plan = { life, stage, stages, isAbandoned: false };
      return stage.isAbandonable === true ? [plan, { ...plan, isAbandoned: true }] : [plan];
    });
}

async function liveUndisturbed(
  [lane]: readonly Lane[],
  { life, stage, stages }: Plan,
): Promise<Undisturbed> {
  assert.ok(lane !== undefined);
  const subject = newSubject(lane);
  const index = stages.indexOf(stage);
  await using _before = await life.prepare?.(subject);
  if (index > 0) {
    await using _operator = lane.bed.start();
    await pass(life, stages.slice(0, index), subject);
  }
  await stage.begin(subject);
  const { points } = await endAt(undefined, { life, stage, subject });
  const end = await endOf(life, subject);
  assert.ok(points.length > 10, `${points.length} points of ${stage.name} are too few to be all`);
  await using _operator = lane.bed.start();
  await pass(life, stages.slice(index + 1), subject);
  return { end, points };
}

/** Whether it came to the call at which it is to end. */
async function liveThrough(
  lane: Lane,
  { plan, point, end }: { readonly plan: Plan; readonly point: KillPoint; readonly end: unknown },
): Promise<boolean> {
  const { bed, traces } = lane;
  const { life, stage, stages, isAbandoned } = plan;
  const subject = newSubject(lane);
  const index = stages.indexOf(stage);
  let mortality: Mortality;
  {
    await using _before = await life.prepare?.(subject);
    if (index > 0) {
      await using _operator = bed.start();
      await pass(life, stages.slice(0, index), subject);
    }
    await stage.begin(subject);
    mortality = await endAt(point, { life, stage, subject });
    if (isAbandoned && (await find(life, subject)) !== undefined) await remove(life, subject);
    await using _next = bed.start();
    if (isAbandoned) {
      await untilOver(life, { isEnd: true }, subject);
    } else {
      await untilOver(life, stage, subject);
      assert.deepEqual(await endOf(life, subject), end);
      await pass(life, stages.slice(index + 1), subject);
    }
  }
  assert.deepEqual(await traces.left(), []);
  return mortality.isKilled;
}

async function pass(life: Life, stages: readonly Stage[], subject: Subject): Promise<void> {
  for (const stage of stages) {
    await stage.begin(subject);
    await untilOver(life, stage, subject);
  }
}

/** Runs an operator until it comes to `point`, or is through without. */
async function endAt(
  point: KillPoint | undefined,
  {
    life,
    stage,
    subject,
  }: { readonly life: Life; readonly stage: Stage; readonly subject: Subject },
): Promise<Mortality> {
  const mortality = new Mortality(subject.app, point);
  const operator = subject.bed.start({ onCall: mortality.pass });
  const enough = new AbortController();
  const signal = AbortSignal.any([subject.signal, enough.signal]);
  const over = untilOver(life, stage, { ...subject, signal });
  over.catch(() => undefined);
  await Promise.race([over, mortality.ended]);
  enough.abort(new Error("it has ended"));
  await operator.stop().catch(() => undefined);
  return mortality;
}

function newSubject({ bed, traces, signal }: Lane): Subject {
  const within = AbortSignal.any([signal, AbortSignal.timeout(lifeMsMax)]);
  return { bed, app: traces.newName(), signal: within };
}

function nameOf({ life, stage, isAbandoned }: Plan): string {
  return `${life.name}, ${stage.name}${isAbandoned ? ", then deleted" : ""}`;
}

/** How often it ended where. */
class Tally {
  kills = 0;
  readonly #counts = new Map<string, number>();

  count({ service }: KillPoint, isKilled: boolean): void {
    if (isKilled) this.kills += 1;
    const where = isKilled ? service : "missed";
    this.#counts.set(where, (this.#counts.get(where) ?? 0) + 1);
  }

  get text(): string {
    return [...this.#counts].map(([where, count]) => `${where} ${count}`).join(", ");
  }
}
