// One simulated run: everything that happens, and when, follows from the seed.

import { type Random, seededRandom } from "@keelson/base";
import type { StoreLimits } from "@keelson/store";
import * as store from "@keelson/store";
import { checkHistory, type Verdict } from "./checker.ts";
import type { StoreModule } from "./client.ts";
import { type History, type HistoryRecord, HistoryRecorder } from "./history.ts";
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
}

export interface Simulated {
  readonly seed: string;
  readonly history: History;
  readonly verdicts: readonly Verdict[];
}

/** Runs one seed and checks what it saw. The same seed gives the same history. */
export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const { seed, steps = 300, module = store } = options;
  const random = seededRandom(`${seed}/plan`);
  const place = options.place ?? random.pick(["memory", "file"] as const);
  const recorder = new HistoryRecorder();
  const world = await World.build({
    place,
    replicas: random.pick([1, 2, 2, 3]),
    climate: climateOf(random),
    limits: limitsOf(random),
    weatherRandom: seededRandom(`${seed}/weather`),
    storeRandom: seededRandom(`${seed}/store`),
    recorder,
    module,
  });
  try {
    const actors = new Actors(world, seededRandom(`${seed}/actors`));
    for (let step = 0; step < steps; step++) await act(random, world, actors);
    await rest(world, actors);
    const tables = await world.observer.tables();
    const history = { records: recorder.records as readonly HistoryRecord[], tables };
    return { seed, history, verdicts: checkHistory(history) };
  } finally {
    await world[Symbol.asyncDispose]();
  }
}

type Action = (random: Random, world: World, actors: Actors) => unknown;

/** What the scheduler can do next, and how often it does. */
const actions: readonly (readonly [weight: number, action: Action])[] = [
  [
    30,
    (random, _, actors) => {
      actors.write(1 + random.integer(4));
    },
  ],
  [
    12,
    (_, __, actors) => {
      actors.get();
    },
  ],
  [
    5,
    (_, __, actors) => {
      actors.list();
    },
  ],
  [
    4,
    (_, __, actors) => {
      actors.watch();
    },
  ],
  [
    6,
    (_, __, actors) => {
      actors.readSlow();
    },
  ],
  [
    2,
    (_, __, actors) => {
      actors.closeWatch();
    },
  ],
  [
    3,
    (_, __, actors) => {
      actors.abortSomething();
    },
  ],
  [25, (random) => turns(1 + random.integer(6))],
  [6, (random, world) => world.clock.advance(1 + random.integer(400))],
  [
    3,
    (_, world) => {
      world.weather.lightFuse(12);
    },
  ],
  [
    2,
    (_, __, actors) => {
      actors.compact();
    },
  ],
  [2, (_, world) => world.observe()],
  [0.7, (random, world) => restart(world, random.pick(world.names))],
  [0.8, (_, world) => world.restartDatabase()],
  [0.4, (_, world) => world.intrude()],
];

async function act(random: Random, world: World, actors: Actors): Promise<void> {
  const total = actions.reduce((sum, [weight]) => sum + weight, 0);
  let dice = random.float() * total;
  for (const [weight, action] of actions) {
    dice -= weight;
    if (dice >= 0) continue;
    await action(random, world, actors);
    return;
  }
}

async function restart(world: World, name: string): Promise<void> {
  await world.stop(name);
  await world.start(name);
}

/** Nothing fails any more; what is under way ends; then watches must be level, slow ones when they are read. */
async function rest(world: World, actors: Actors): Promise<void> {
  world.weather.calm();
  await pass(world, () => !actors.isBusy);
  actors.lastWords();
  await pass(world, () => !actors.isBusy);
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
