// Ours on PostgreSQL beside kube-apiserver + etcd: the same machine, client, TLS, objects, and a sync before each acknowledgement on both.

import { startThrowawayPostgres } from "@keelson/database/testing";

import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { kubernetes, ours } from "./contenders.ts";
import { rateOf, takeTurns, warmUp } from "./turns.ts";

const collection = "/api/v1/namespaces/default/configmaps";

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const rounds = numberOf(run, "rounds", run.isQuick ? 1 : 3);
  const seconds = numberOf(run, "round-ms", run.isQuick ? 700 : 2_000) / 1_000;
  const rows: Row[] = [];
  await using theirs = await kubernetes(signal);
  await using server = await startThrowawayPostgres({ flavour: "embedded", fsync: true }, signal);
  await using database = await server.createDatabase();
  await using postgres = await ours({ driver: "postgresql", databaseUrl: database.url }, signal);
  const fill = {
    verb: "fill",
    prefix: "pg",
    objects: 1_000,
    clients: 16,
    path: collection,
  } as const;
  run.say("warming up");
  for (const contender of [postgres, theirs]) {
    await warmUp(contender, collection, signal);
    await contender.load(fill, signal);
  }
  for (const clients of [1, 16, 64]) {
    for (const verb of ["create", "update", "get"] as const) {
      run.say(`PostgreSQL: ${verb}, ${clients} clients`);
      const options = { verb, clients, seconds, path: collection, objects: 1_000 };
      const measured = rateOf(
        await takeTurns(
          { ours: postgres, theirs },
          { options, rounds, prefix: verb === "create" ? `pgnew-${clients}` : "pg" },
          signal,
        ),
      );
      const bound = verb !== "get" && clients > 1 ? { ratioAtLeast: 2 } : undefined;
      rows.push(
        judged({ name: `PostgreSQL ${verb}s, ${clients} clients`, unit: "/s", ...measured }, bound),
      );
    }
  }
  return rows;
}
