// Three replicas on one PostgreSQL: a writer at the first, watchers at all of them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startThrowawayPostgres } from "@keelson/database/testing";

import { CertificateAuthority } from "../../test/tools/certificates.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { ours, type Contender } from "./contenders.ts";

export async function bench(run: Run): Promise<readonly Row[]> {
  const { signal } = run;
  const seconds = numberOf(run, "seconds", run.isQuick ? 3 : 20);
  await using postgres = await startThrowawayPostgres({ flavour: "embedded", fsync: true }, signal);
  await using database = await postgres.createDatabase();
  await using undo = new AsyncDisposableStack();
  const certDir = mkdtempSync(join(tmpdir(), "keelson-replicas-"));
  undo.defer(() => rmSync(certDir, { recursive: true, force: true }));
  const authority = await CertificateAuthority.create("bench-clients");
  const replicas: Contender[] = [];
  for (let index = 0; index < 3; index += 1) {
    replicas.push(
      undo.use(
        await ours({ driver: "postgresql", databaseUrl: database.url, certDir, authority }, signal),
      ),
    );
  }
  const [first] = replicas;
  if (first === undefined) return [];
  run.say(`200 writes a second for ${seconds} s, 50 watchers at each of three`);
  const result = await first.load(
    { verb: "watch", rate: 200, watchers: 50, seconds, watchUrls: replicas.map(({ url }) => url) },
    signal,
  );
  return [
    judged(
      { name: "three replicas: write → event, p50", value: result.p50, unit: "ms" },
      { atMost: 20 },
    ),
    judged(
      { name: "three replicas: write → event, p99", value: result.p99, unit: "ms" },
      { atMost: 100 },
    ),
    judged({ name: "three replicas: writes", value: result.rate, unit: "/s" }),
  ];
}
