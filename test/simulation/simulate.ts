// One simulated run: everything that happens, and when, follows from the seed.

import { type Random, seededRandom } from "@keelson/base";
import type { StoreLimits } from "@keelson/store";
import * as store from "@keelson/store";
import { checkHistory, type Verdict } from "./checker.ts";
import type { StoreModule } from "./client.ts";
import { type History, type HistoryRecord, HistoryRecorder, type Recorder } from "./history.ts";
import { Actors } from "./world/actors.ts";
import type { Climate } from "./world/weather.ts";
import { turns } from "./world/weather.ts";
import { World } from "./world/world.ts";

export interface SimulationOptions {
  readonly seed: string;
  /** Decisions of the scheduler before the run comes to rest. */
  readonly steps?: number;
  readonly place?: "memory" | "file";
  /** The store under test. */
  readonly module?: StoreModule;
  /** What to look at more closely. */
  readonly emphasis?: Emphasis;
  /** How bad things are; else the seed decides. */
  readonly climate?: Climate;
}

export interface Simulated {
  readonly seed: string;
  readonly history: History;
  readonly verdicts: readonly Verdict[];
}

/** Runs one seed and checks what it saw. The same seed gives the same history. */
export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const { seed, steps = 300, module = store, emphasis = {} } = options;
  const random = seededRandom(`${seed}/plan`);
  const place = options.place ?? random.pick(["memory", "file"] as const);
  const recorder = new HistoryRecorder();
  const replicas = random.pick([1, 2, 2, 3]);
  const climate = climateOf(random);
  const world = await World.build({
    place,
    replicas,
    climate: options.climate ?? climate,
    limits: limitsOf(random),
    weatherRandom: seededRandom(`${seed}/weather`),
    storeRandom: seededRandom(`${seed}/store`),
    recorder,
    module,
  });
  try {
    const actors = new Actors(world, seededRandom(`${seed}/actors`));
    for (let step = 0; step < steps; step++) await act(random, { world, actors, emphasis });
    await rest(world, actors, recorder);
    const tables = await world.observer.tables();
    const history = { records: recorder.records as readonly HistoryRecord[], tables };
    return { seed, history, verdicts: checkHistory(history) };
  } finally {
    await world[Symbol.asyncDispose]();
  }
}

type Act = (random: Random, world: World, actors: Actors) => unknown;

/** What the scheduler can do next, and how often it does. */
const actions = {
  write: [30, (random, _, actors) => actors.write(1 + random.integer(4))],
  get: [12, (_, __, actors) => actors.get()],
  list: [5, (_, __, actors) => actors.list()],
  watch: [4, (_, __, actors) => actors.watch()],
  readSlow: [6, (_, __, actors) => actors.readSlow()],
  closeWatch: [2, (_, __, actors) => actors.closeWatch()],
  abort: [3, (_, __, actors) => actors.abortSomething()],
  turns: [25, (random) => turns(1 + random.integer(6))],
  advance: [6, (random, world) => world.clock.advance(1 + random.integer(400))],
  fail: [3, (_, world) => world.weather.lightFuse(12)],
  compact: [2, (_, __, actors) => actors.compact()],
  observe: [2, (_, world) => world.observe()],
  restart: [0.7, (random, world) => restart(world, random.pick(world.names))],
  restartDatabase: [0.8, (_, world) => world.restartDatabase()],
  intrude: [0.4, (_, world) => world.intrude()],
} as const satisfies Record<string, readonly [weight: number, act: Act]>;

export type Action = keyof typeof actions;

/** How much more often than usual some actions are taken. */
export type Emphasis = Partial<Record<Action, number>>;

async function act(
  random: Random,
  { world, actors, emphasis }: { world: World; actors: Actors; emphasis: Emphasis },
): Promise<void> {
  const weighted = Object.entries<readonly [number, Act]>(actions).map(([name, [weight, act]]) => {
    return { weight: weight * (emphasis[name as Action] ?? 1), act };
  });
  let dice = random.float() * weighted.reduce((sum, { weight }) => sum + weight, 0);
  for (const { weight, act } of weighted) {
    dice -= weight;
    if (dice >= 0) continue;
    await act(random, world, actors);
    return;
  }
}

async function restart(world: World, name: string): Promise<void> {
  await world.stop(name);
  await world.start(name);
}

/** Nothing fails any more; what is under way ends; then watches must be level, slow ones when they are read. */
async function rest(world: World, actors: Actors, recorder: Recorder): Promise<void> {
  world.weather.calm();
  await idle(world, actors, recorder);
  actors.lastWords();
  await idle(world, actors, recorder);
  const head = await world.observe();
  // Longer than the store waits before it looks by itself.
  await pass(world, () => actors.areLevel(head, "fast"));
  actors.rest(head, "fast");
  actors.hurry();
  await pass(world, () => actors.areLevel(head, "slow"));
  actors.rest(head, "slow");
  actors.closeAll();
  await turns(20);
  await world.observe();
}

/** Waits for an answer to every call. That one never comes no other record would tell: a call without one may mean anything. */
async function idle(world: World, actors: Actors, recorder: Recorder): Promise<void> {
  await pass(world, () => !actors.isBusy);
  if (actors.isBusy) recorder.record({ type: "stuck", replica: "*", before: "every answer" });
}

/** Lets time pass until something is so, and gives up after a minute of it: then the checker has something to say. */
async function pass(world: World, isSo: () => boolean): Promise<void> {
  for (let wait = 0; wait < 120; wait++) {
    await turns(12);
    if (isSo()) return;
    await world.clock.advance(500);
  }
}

function climateOf(random: Random): Climate {
  return random.pick([
    { turnsMax: 0, loss: 0, wakeLoss: 0 },
    { turnsMax: 2, loss: 0, wakeLoss: 0.5 },
    { turnsMax: 3, loss: 0.02, wakeLoss: 0.3 },
    { turnsMax: 1, loss: 0.01, wakeLoss: 1 },
  ]);
}

/** Small, so that every bound is met within a few hundred steps. */
function limitsOf(random: Random): Partial<StoreLimits> {
  return {
    batchWritesMax: random.pick([2, 4, 256]),
    queuedWritesMax: 10_000,
    recentChangesMax: random.pick([2, 8, 64]),
    pagesMax: random.pick([1, 3]),
    pageChanges: random.pick([2, 4, 16]),
    pageText: random.pick([300, 100_000]),
    cacheBytesMax: random.pick([8_000, 1_000_000]),
    watchBufferMax: random.pick([1, 3, 100]),
    pollMs: 2000,
    cutEntries: random.pick([2, 500]),
    compactionEveryMs: random.pick([undefined, undefined, 3000]),
  };
}
