// Many objects: pages of a hundred thousand; a SQLite file with a million, started again.

import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { startOurs } from "../../test/apiserver/ours.ts";
import { Contender } from "./contenders.ts";

const path = "/api/v1/namespaces/default/configmaps";

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const some = numberOf(run, "some", run.isQuick ? 5_000 : 100_000);
  const many = numberOf(run, "objects", run.isQuick ? 20_000 : 1_000_000);
  const rows: Row[] = [];
  const undo = new AsyncDisposableStack();
  const server = undo.use(await startOurs({ driver: "sqlite" }, signal));
  const pids = (): number[] => [server.pid].filter((pid) => pid !== undefined);
  await using contender = new Contender("ours, sqlite", server, { pids, undo });
  const fill = async (prefix: string, objects: number): Promise<void> => {
    run.say(`filling with ${objects.toLocaleString("en-US")} objects`);
    await contender.load({ verb: "fill", prefix, objects, clients: 64, size: 512, path }, signal);
  };
  const before = await contender.load(
    { verb: "create", prefix: "early", clients: 16, seconds: run.isQuick ? 1 : 5, path },
    signal,
  );
  await fill("some", some);
  const label = (count: number): string => count.toLocaleString("en-US");
  const page = async (): Promise<number> =>
    (
      await contender.load(
        { verb: "page", clients: 1, limit: 500, path, seconds: run.isQuick ? 2 : 15 },
        signal,
      )
    ).p99;
  contender.forgetPeak();
  const unpaged = contender.peakMegabytes;
  rows.push(
    judged(
      { name: `${label(some)} objects: page of 500, p99`, value: await page(), unit: "ms" },
      { atMost: 250 },
    ),
  );
  rows.push(
    judged(
      {
        name: `${label(some)} objects: growth of memory by paging`,
        value: contender.peakMegabytes - unpaged,
        unit: "MB",
      },
      { atMost: 150 },
    ),
  );

  await fill("many", many - some);
  await server.stop("SIGTERM");
  const startedAt = performance.now();
  await server.start(signal);
  rows.push(
    judged(
      {
        name: `${label(many)} objects: ready`,
        value: (performance.now() - startedAt) / 1_000,
        unit: "s",
      },
      { atMost: 30 },
    ),
  );
  const get = await contender.load(
    {
      verb: "get",
      prefix: "many",
      objects: many - some,
      clients: 4,
      path,
      seconds: run.isQuick ? 1 : 5,
    },
    signal,
  );
  rows.push(
    judged(
      { name: `${label(many)} objects: GET, p99`, value: get.p99, unit: "ms" },
      { atMost: 20 },
    ),
  );
  rows.push(
    judged(
      { name: `${label(many)} objects: page of 500, p99`, value: await page(), unit: "ms" },
      { atMost: 250 },
    ),
  );
  const late = await contender.load(
    { verb: "create", prefix: "late", clients: 16, seconds: run.isQuick ? 1 : 5, path },
    signal,
  );
  rows.push(
    judged(
      {
        name: `${label(many)} objects: creates, 16 clients`,
        value: late.rate,
        unit: "/s",
        baseline: before.rate,
      },
      { ratioAtLeast: 0.5 },
    ),
  );
  return rows;
}
