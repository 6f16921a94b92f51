// A replica of a service, to be killed: it writes, numbers and relays until it is done or has reached its end.
// What it publishes goes to the table `deliveries`, so that nothing of the evidence dies with it.

import {
  openDatabase,
  Outbox,
  Relay,
  statement,
  Wakeups,
  type NumberedEvent,
  type StatementPoint,
} from "@keelson/database";
import { patience } from "@keelson/database/testing";
import { seededRandom, systemRandom, TaskScope } from "@keelson/base";

interface Instructions {
  readonly url: string;
  readonly seed: string;
  /** How many transactions to write. */
  readonly writes: number;
  readonly isRelay: boolean;
  /** Dies at this point of a statement, when it is reached the n-th time. */
  readonly killAt?: {
    readonly phase: "before" | "after";
    readonly statement?: string;
    readonly n: number;
  };
}

/** What rolls a transaction back on purpose. */
class Doomed extends Error {}

const instructions = JSON.parse(process.argv[2] ?? "{}") as Instructions;
const { url, seed, writes, isRelay, killAt } = instructions;
const random = seededRandom(seed);
const never = new AbortController().signal;

let reached = 0;
const onStatement = ({ phase, statement }: StatementPoint): void => {
  if (killAt === undefined || phase !== killAt.phase) return;
  if (killAt.statement !== undefined && statement !== killAt.statement) return;
  if (++reached === killAt.n) process.kill(process.pid, "SIGKILL");
};

const changeThing = statement<string, { seq: number }>(
  "changeThing",
  (sql, key) => sql`UPDATE things SET seq = seq + 1 WHERE key = ${key} RETURNING seq`,
);
const deliver = statement<readonly NumberedEvent[]>(
  "publish",
  (sql, events) => sql`
    INSERT INTO deliveries (position, ordering_key, seq)
    SELECT (e ->> 'position')::bigint, e ->> 'key', (e ->> 'seq')::integer
    FROM jsonb_array_elements(${JSON.stringify(
      events.map(({ position, orderingKey, data }) => ({
        position,
        key: orderingKey,
        ...Object(data),
      })),
    )}::text::jsonb) AS e`,
);
const pending = statement<undefined, { rows: number }>(
  "pending",
  (sql) => sql`
    SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)::integer
         + (SELECT count(*) FROM outbox_unnumbered)::integer AS rows`,
);

await using database = openDatabase({
  url,
  name: "replica",
  searchPath: ["lifecycle", "public"],
  connectionsMax: 4,
  ...patience,
  onStatement,
});
await using watching = openDatabase({
  url,
  name: "watching",
  searchPath: ["lifecycle", "public"],
  ...patience,
});
const wakeups = new Wakeups({ database: watching });
const outbox = new Outbox({ database, wakeups, name: "lifecycle.outbox", pollMs: 20 });
const relay = new Relay({
  outbox,
  leaseMs: 400,
  publishTimeoutMs: 200,
  retryMs: { initial: 5, max: 50 },
  transport: {
    async publish(events) {
      await database.run(deliver, events, never);
    },
  },
});

await using scope = new TaskScope(never);
if (isRelay) {
  scope.spawn("numbering", (signal) => outbox.runNumbering(signal));
  scope.spawn("relay", (signal) => relay.run(signal));
}
for (let i = 0; i < writes; i++) await write().catch(onlyDoom);
if (isRelay) await drain();

/** Waits until nothing is left to number or to publish. */
async function drain(): Promise<void> {
  for (;;) {
    const [row] = await watching.run(pending, undefined, never);
    if (row?.rows === 0) return;
  }
}

/** One change and its event, or neither: every fifth is rolled back. */
async function write(): Promise<void> {
  const key = `k${random.integer(5)}`;
  const isDoomed = random.integer(5) === 0;
  await database.transaction(async (sql) => {
    const [row] = await sql.run(changeThing, key);
    const data = { seq: row?.seq ?? 0, ...(isDoomed && { doomed: true }) };
    await outbox.append(sql, [
      { eventId: systemRandom.uuid(), topic: "things", orderingKey: key, data },
    ]);
    if (isDoomed) throw new Doomed();
  }, never);
}

function onlyDoom(error: unknown): void {
  if (!(error instanceof Doomed)) throw error;
}
