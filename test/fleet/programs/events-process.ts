// A replica that changes resources and numbers their events, until it is done or has reached its end.

import { TaskScope } from "@keelson/base";
import { openDatabase, statement, Wakeups, type StatementPoint } from "@keelson/database";
import { patience } from "@keelson/database/testing";
import { EventLog } from "@keelson/fleet";

interface Instructions {
  readonly url: string;
  /** How many transactions, of 50 changes each; whoever is to die goes on until then. */
  readonly writes: number;
  /** Dies when a statement has been reached so often: after its commits, before or after they are numbered. */
  readonly killAt?: {
    readonly phase: "before" | "after";
    readonly statement: string;
    readonly n: number;
  };
}

const { url, writes, killAt } = JSON.parse(process.argv[2] ?? "{}") as Instructions;
const never = new AbortController().signal;
let reached = 0;
const onStatement = ({ phase, statement }: StatementPoint): void => {
  if (phase !== killAt?.phase || statement !== killAt.statement) return;
  if (++reached === killAt.n) process.kill(process.pid, "SIGKILL");
};

/** In the order of their ids, as everybody who locks several rows does. */
const changeSome = statement<undefined>(
  "changeSome",
  (sql) => sql`
    WITH chosen AS (
      SELECT id FROM resources ORDER BY id LIMIT 50 FOR NO KEY UPDATE
    )
    UPDATE resources r SET desired_spec = jsonb_build_object('data', jsonb_build_object('n', r.generation::text))
    FROM chosen WHERE r.id = chosen.id`,
);

await using database = openDatabase({
  url,
  name: "replica",
  searchPath: ["fleet", "public"],
  connectionsMax: 4,
  ...patience,
  onStatement,
});
const events = new EventLog({ database, wakeups: new Wakeups({ database }), pollMs: 5 });
await using scope = new TaskScope(never);
scope.spawn("events", (signal) => events.run(signal));
const end = killAt === undefined ? writes : Number.POSITIVE_INFINITY;
for (let write = 0; write < end; write++) {
  await database.run(changeSome, undefined, never);
}
