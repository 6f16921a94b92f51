// Ours on SQLite beside kube-apiserver + etcd: the same machine, client, TLS, objects, and a sync before each acknowledgement on both.

import { median } from "../measure.ts";
import { judged, type Bound, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { echo, kubernetes, ours, type LoadOptions } from "./contenders.ts";
import { rateOf, takeTurns, type Turns, warmUp } from "./turns.ts";

const collection = "/api/v1/namespaces/default/configmaps";

/** Goals of apiserver.md §5, as multiples of what kube-apiserver + etcd does in the same run. */
const goals: Readonly<Record<string, (clients: number) => number>> = {
  create: (clients) => (clients === 1 ? 3 : 4),
  update: (clients) => (clients === 1 ? 3 : 4),
  get: (clients) => (clients === 1 ? 3 : 5),
};

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const rounds = numberOf(run, "rounds", run.isQuick ? 1 : 3);
  const seconds = numberOf(run, "round-ms", run.isQuick ? 700 : 2_000) / 1_000;
  const listed = numberOf(run, "objects", run.isQuick ? 1_000 : 10_000);
  const rows: Row[] = [];

  await using ceiling = await echo(signal);
  for (const clients of [1, 16, 64]) {
    for (const [verb, what] of [
      ["post", "POST"],
      ["raw", "GET"],
    ] as const) {
      const { rate } = await ceiling.load({ verb, path: "/", clients, seconds }, signal);
      rows.push(judged({ name: `echo ${what}, ${clients} clients`, value: rate, unit: "/s" }));
    }
  }

  await using theirs = await kubernetes(signal);
  await using sqlite = await ours({ driver: "sqlite" }, signal);
  const pair = { ours: sqlite, theirs };
  const turns = async (options: LoadOptions, prefix?: string): Promise<Turns> =>
    await takeTurns(pair, { options, rounds, ...(prefix === undefined ? {} : { prefix }) }, signal);

  run.say("warming up");
  for (const contender of [sqlite, theirs]) await warmUp(contender, collection, signal);

  for (const size of [1_024, 10_240]) {
    const unit = size === 1_024 ? "1 KB" : "10 KB";
    for (const contender of [sqlite, theirs])
      await contender.load(
        {
          verb: "fill",
          prefix: `hot-${size}`,
          objects: 1_000,
          size,
          clients: 16,
          path: collection,
        },
        signal,
      );
    for (const clients of [1, 16, 64]) {
      for (const verb of ["create", "update", "get"] as const) {
        run.say(`${verb}, ${clients} clients, ${unit}`);
        const base = { verb, clients, size, seconds, path: collection, objects: 1_000 };
        const { value, baseline, ratio } = rateOf(
          await turns(base, verb === "create" ? `new-${size}-${clients}` : `hot-${size}`),
        );
        const bound: Bound | undefined =
          size === 1_024 ? { ratioAtLeast: goals[verb]?.(clients) ?? 0 } : undefined;
        rows.push(
          judged(
            { name: `${verb}s, ${clients} clients, ${unit}`, value, unit: "/s", baseline, ratio },
            bound,
          ),
        );
      }
    }
  }
  run.say("get over HTTP/2");
  const http2 = rateOf(
    await turns(
      { verb: "get", clients: 64, seconds, path: collection, objects: 1_000, http2: true },
      "hot-1024",
    ),
  );
  rows.push(judged({ name: "gets, 64 clients, 1 KB, HTTP/2", unit: "/s", ...http2 }));

  run.say(`a list of ${listed}`);
  const path = "/api/v1/namespaces/kube-public/configmaps";
  for (const contender of [sqlite, theirs])
    await contender.load(
      { verb: "fill", prefix: "listed", objects: listed, clients: 16, path },
      signal,
    );
  const lists = await turns({ verb: "list", clients: 1, seconds: seconds * 2, path });
  const list = {
    value: median(lists.ours.map(({ p50 }) => p50)),
    baseline: median(lists.theirs.map(({ p50 }) => p50)),
  };
  rows.push(
    judged(
      { name: `list of ${listed.toLocaleString("en-US")}, p50`, unit: "ms", ...list },
      { ratioAtMost: 0.5 },
    ),
  );
  run.say("pages");
  const pages = rateOf(await turns({ verb: "page", clients: 4, limit: 500, seconds, path }));
  rows.push(judged({ name: "pages of 500, 4 clients", unit: "/s", ...pages }, { ratioAtLeast: 3 }));

  for (const watchers of run.isQuick ? [1, 100] : [1, 100, 1_000]) {
    run.say(`${watchers} watchers`);
    const results = await turns(
      { verb: "watch", watchers, rate: 50, seconds: seconds * 2, path: collection },
      `seen-${watchers}`,
    );
    const p99 = {
      value: median(results.ours.map(({ p99 }) => p99)),
      baseline: median(results.theirs.map(({ p99 }) => p99)),
    };
    rows.push(
      judged(
        { name: `write → event, ${watchers} watchers, p99`, unit: "ms", ...p99 },
        { ratioAtMost: 0.5 },
      ),
    );
  }
  run.say("1,000 watchers, 100 writes a second");
  const busy = await sqlite.load(
    {
      verb: "watch",
      watchers: run.isQuick ? 200 : 1_000,
      rate: 100,
      seconds: run.isQuick ? 2 : 10,
      path: collection,
      prefix: "busy",
    },
    signal,
  );
  rows.push(
    judged(
      { name: "1,000 watchers × 100 writes/s, p99", value: busy.p99, unit: "ms" },
      { atMost: 1_000 },
    ),
    judged({ name: "1,000 watchers: writes", value: busy.rate, unit: "/s" }),
  );
  rows.push(
    judged(
      {
        name: "peak resident memory",
        value: sqlite.peakMegabytes,
        unit: "MB",
        baseline: theirs.peakMegabytes,
      },
      { ratioAtMost: 0.25 },
    ),
  );

  return rows;
}
