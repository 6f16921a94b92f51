// Single clusters over HTTP: read with a status that is cached, read with one that must be calculated, declared.

import { systemClock } from "@keelson/base";
import { statement } from "@keelson/database";
import { CoreMeter } from "../cores.ts";
import { closedLoop, Latencies } from "../measure.ts";
import { judged, type Bound, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { insertStable, spec, startBed, type Bed } from "./bed.ts";
import { Connection } from "./connection.ts";

/** What the service that the contract grew from did on two shared cores: requests a second, by clients. */
const formerly = {
  get: new Map([
    [1, 2_500],
    [16, 4_350],
    [64, 5_760],
  ]),
  post: new Map([
    [1, 61],
    [16, 480],
  ]),
};

/** How much more it shall be, by clients. */
const wanted = {
  get: new Map([
    [16, 2],
    [64, 2],
  ]),
  post: new Map([
    [1, 10],
    [16, 4],
  ]),
};

const clientCounts = [1, 16, 64];
const steadyAfterMs = 10_000;

export async function bench(run: Run): Promise<readonly Row[]> {
  const ms = numberOf(run, "ms", run.isQuick ? 1_500 : 10_000);
  const count = numberOf(run, "clusters", run.isQuick ? 500 : 2_000);
  await using bed = await startBed(run);
  const rows: Row[] = [...bed.memoryRows("at rest")];
  const ids = await insertStable(bed.database, { count, prefix: "read-" }, run.signal);
  const get = async (connection: Connection, n: number): Promise<unknown> =>
    connection.ask({ method: "GET", path: `/clusters/${ids[n % ids.length]}` });

  await measure(bed, { clients: 16, ms: ms / 2 }, get); // Connections, plans, compiled code.
  for (const clients of clientCounts) {
    run.say(`GET of clean clusters by ${clients}`);
    const before = await bed.staleReads();
    const measured = await measure(bed, { clients, ms }, get);
    if ((await bed.staleReads()) > before) throw new Error("some were not clean");
    rows.push(...told("GET, cached", { ...measured, clients, what: "get", p50Ms: 1 }));
  }

  for (const clients of clientCounts) {
    run.say(`GET of dirty clusters by ${clients}`);
    const measured = await metered(bed, () => measureDirty(run, bed, { clients, ids, ms }));
    rows.push(...told("GET, dirty", { ...measured, clients, p50Ms: 5 }));
  }

  let made = 0;
  const post = async (connection: Connection): Promise<unknown> =>
    connection.ask({
      method: "POST",
      path: "/clusters",
      body: { name: `made-${made++}`, target_project_id: "project-7", spec },
    });
  await measure(bed, { clients: 16, ms: ms / 2 }, post);
  for (const clients of clientCounts) {
    run.say(`POST by ${clients}`);
    const measured = await measure(bed, { clients, ms }, post);
    rows.push(...told("POST", { ...measured, clients, what: "post", p50Ms: 5 }));
  }
  rows.push(...bed.memoryRows("after requests by 64"));
  await systemClock.sleep(steadyAfterMs, run.signal);
  const [steady] = bed.memoryRows(`${steadyAfterMs / 1000} s later`);
  return steady === undefined ? rows : [...rows, steady];
}

interface Measured {
  readonly perSecond: number;
  readonly latencies: Latencies;
  /** Microseconds of a core for each request, by program: what a busy machine does not change much. */
  readonly coreUs: ReadonlyMap<string, number>;
}

/** What the programs had while `work` was done, shared among the requests that it counts. */
async function metered(
  { pid }: Bed,
  work: () => Promise<{ readonly perSecond: number; readonly latencies: Latencies }>,
): Promise<Measured> {
  using meter = new CoreMeter(new Map([[pid, "keelson"]]));
  const startMs = performance.now();
  const done = await work();
  const seconds = (performance.now() - startMs) / 1000;
  const perRequest = (had: number): number => (had * seconds * 1e6) / done.latencies.count;
  const coreUs = [...meter.read()].map(([name, { had }]) => [name, perRequest(had)] as const);
  return { ...done, coreUs: new Map(coreUs) };
}

/** So many clients, each with a connection of its own and one request under way. */
async function measure(
  bed: Bed,
  { clients, ms }: { readonly clients: number; readonly ms: number },
  call: (connection: Connection, n: number) => Promise<unknown>,
): Promise<Measured> {
  using open = new DisposableStack();
  const connections: Connection[] = [];
  while (connections.length < clients) connections.push(open.use(await Connection.to(bed.url)));
  const latencies = new Latencies();
  let n = 0;
  const one = async (client: number): Promise<void> => {
    const connection = connections[client];
    if (connection !== undefined) await call(connection, n++);
  };
  return await metered(bed, async () => {
    const perSecond = await closedLoop(clients, one, { ms, latencies });
    return { perSecond, latencies };
  });
}

const makeDirty = statement<undefined>(
  "makeDirty",
  (sql) => sql`
    UPDATE clusters SET status_dirty = true, status_revision = status_revision + 1
    WHERE starts_with(name, 'read-')`,
);

/** Each of the clusters is read once while it is dirty; then all are made dirty again. */
async function measureDirty(
  run: Run,
  bed: Bed,
  {
    clients,
    ids,
    ms,
  }: { readonly clients: number; readonly ids: readonly string[]; readonly ms: number },
): Promise<{ readonly perSecond: number; readonly latencies: Latencies }> {
  using open = new DisposableStack();
  const connections: Connection[] = [];
  while (connections.length < clients) connections.push(open.use(await Connection.to(bed.url)));
  const latencies = new Latencies();
  const before = await bed.staleReads();
  let [spentMs, reads] = [0, 0];
  while (spentMs < ms) {
    await bed.database.run(makeDirty, undefined, run.signal);
    const left = [...ids];
    const startMs = performance.now();
    await Promise.all(
      connections.map(async (connection) => {
        for (let id = left.pop(); id !== undefined; id = left.pop()) {
          const sentMs = performance.now();
          await connection.ask({ method: "GET", path: `/clusters/${id}` });
          latencies.add(performance.now() - sentMs);
        }
      }),
    );
    spentMs += performance.now() - startMs;
    reads += ids.length;
  }
  const share = ((await bed.staleReads()) - before) / reads;
  // A tick of the background pass may have been faster with some.
  if (share < 0.5)
    throw new Error(`only ${Math.round(share * 100)} % were dirty when they were read`);
  return { perSecond: (reads / spentMs) * 1000, latencies };
}

function told(
  name: string,
  result: Measured & {
    readonly clients: number;
    readonly what?: keyof typeof formerly;
    /** Of one client, who waits for nobody else. */
    readonly p50Ms: number;
  },
): readonly Row[] {
  const { clients, perSecond, latencies, coreUs, what, p50Ms } = result;
  const label = `${name}, ${clients} ${clients === 1 ? "client" : "clients"}`;
  const baseline = what === undefined ? undefined : formerly[what].get(clients);
  const ratioAtLeast = what === undefined ? undefined : wanted[what].get(clients);
  const rate = { name: label, value: perSecond, unit: "/s" };
  const bound: Bound | undefined = ratioAtLeast === undefined ? undefined : { ratioAtLeast };
  const p50 = { name: `${label}: p50`, value: latencies.percentile(0.5), unit: "ms" };
  const p99 = { name: `${label}: p99`, value: latencies.percentile(0.99), unit: "ms" };
  return [
    judged(baseline === undefined ? rate : { ...rate, baseline }, bound),
    judged(p50, clients === 1 ? { atMost: p50Ms } : undefined),
    judged(p99),
    ...["keelson", "postgres"].map((program) =>
      judged({
        name: `${label}: core of ${program}`,
        value: coreUs.get(program) ?? Number.NaN,
        unit: "µs",
      }),
    ),
  ];
}
