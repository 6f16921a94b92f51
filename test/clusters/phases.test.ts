// A phase that is asked for is found in the database, by the rule that says what a GET shows.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ManualClock } from "@keelson/base/testing";
import * as fc from "fast-check";
import { alice, ctl, startClustersRest, type ClustersRest } from "./clusters-rest.ts";

const phases = ["Pending", "Progressing", "Ready", "Failed", "Deleting"] as const;
const nowMs = Date.parse("2026-03-01T12:00:00Z");

/** How old something is, in seconds: with the ends of the grace and of what is recent among them. */
const age = fc.oneof(
  fc.constantFrom(0, 299, 300, 301, 1_799, 1_800, 1_801),
  fc.integer({ min: 0, max: 4_000 }),
);

const report = fc.record({
  name: fc.constantFrom("a", "b", "c"),
  behind: fc.constantFrom(0, 0, 0, 1),
  conditions: fc.constantFrom(
    `[]`,
    `[{"type":"Available","status":"True"}]`,
    `[{"type":"Available","status":"False"}]`,
    `[{"type":"Available","status":"False","reason":"NotApplicable"}]`,
    `[{"type":"Available","status":"True"},{"type":"NotApplicable","status":"True"}]`,
    `[{"type":"Applied","status":"False","reason":"NotApplicable"},{"type":"Available","status":"True"}]`,
  ),
  error: fc.constantFrom(
    `NULL`,
    `NULL`,
    `'{"errorType":"Fatal"}'`,
    `'{"errorType":"System"}'`,
    `'{}'`,
  ),
  age,
});

const resource = fc.record({
  generation: fc.constantFrom(1, 2),
  age,
  platform: fc.constantFrom("gcp", "AWS"),
  isDeleting: fc.constantFrom(false, false, false, false, true),
  reports: fc.uniqueArray(report, { maxLength: 3, selector: ({ name }) => name }),
  /** Undefined: stale. */
  cached: fc.constantFrom(undefined, undefined, undefined, "Ready", "Failed", "Error"),
});

const controllerNamed = (name: string) =>
  fc.record({
    name: fc.constant(name),
    kinds: fc.constantFrom("{cluster,nodepool}", "{cluster}", "{nodepool}"),
    platforms: fc.constantFrom("{}", "{gcp}", "{aws}"),
    retired: fc.constantFrom("NULL", "now()"),
  });

const world = fc.record({
  resources: fc.array(resource, { minLength: 20, maxLength: 40 }),
  controllers: fc
    .tuple(...["a", "b", "d"].map((name) => fc.option(controllerNamed(name), { nil: undefined })))
    .map((all) => all.filter((one) => one !== undefined)),
});

type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const kinds = {
  cluster: { plural: "clusters", reports: "controller_status", key: "cluster_id" },
  nodepool: { plural: "nodepools", reports: "nodepool_controller_status", key: "nodepool_id" },
} as const;

const id = (index: number): string => `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
const ago = (seconds: number): string => `to_timestamp(${(nowMs - seconds * 1_000) / 1_000})`;

/** Makes the tables as the world is; a nodepool has the platform of a cluster of its own. */
async function make(it: ClustersRest, kind: keyof typeof kinds, given: World): Promise<void> {
  const { plural, reports, key } = kinds[kind];
  const rows = given.resources.map((one, index) => ({ ...one, id: id(index + 1) }));
  const cached = (phase: string, generation: number): string =>
    `'${JSON.stringify({
      phase,
      observedGeneration: generation,
      conditions: [],
      reason: "Told",
      message: "",
      lastUpdateTime: new Date(nowMs).toISOString(),
    })}'`;
  const commands = [
    `TRUNCATE clusters, controllers CASCADE`,
    ...given.controllers.map(
      ({ name, kinds, platforms, retired }) =>
        `INSERT INTO controllers VALUES ('${name}', '${kinds}', '${platforms}', false, ${retired})`,
    ),
    ...rows.flatMap((row) => {
      const spec = `'{"platform": {"type": "${row.platform}"}}'`;
      const parent = `INSERT INTO clusters (id, name, created_by, spec) VALUES ('${row.id}', '${row.id}', '${alice}', ${spec})`;
      const own = `INSERT INTO nodepools (id, cluster_id, name, created_by) VALUES ('${row.id}', '${row.id}', 'p', '${alice}')`;
      return [parent, ...(kind === "nodepool" ? [own] : [])];
    }),
    ...rows.flatMap((row) =>
      row.reports.map(
        ({ name, behind, conditions, error, age }) =>
          `INSERT INTO ${reports} (${key}, controller_name, observed_generation, conditions, last_error, updated_at)
           VALUES ('${row.id}', '${name}', ${Math.max(1, row.generation - behind)}, '${conditions}', ${error}, ${ago(age)})`,
      ),
    ),
    // Last: nothing before it may count as a change.
    `ALTER TABLE ${plural} DISABLE TRIGGER generation_rises`,
    ...rows.map(
      (row) =>
        `UPDATE ${plural} SET generation = ${row.generation}, generation_changed_at = ${ago(row.age)},
           deletion_timestamp = ${row.isDeleting ? "now()" : "NULL"},
           status_dirty = ${row.cached === undefined || row.isDeleting},
           status = ${row.cached === undefined ? "NULL" : cached(row.cached, row.generation)}
         WHERE id = '${row.id}'`,
    ),
    `ALTER TABLE ${plural} ENABLE TRIGGER generation_rises`,
  ];
  await it.tables.query(commands.join(";\n"));
}

suite("lists of one phase", () => {
  for (const kind of ["cluster", "nodepool"] as const) {
    for (const fatalFails of [true, false]) {
      test(`of ${kind}s they have what a GET shows in it, also where nobody has calculated it yet (fatal errors fail: ${fatalFails})`, async () => {
        const rules = { graceMs: 1_800_000, recentMs: 300_000, fatalFails };
        const clock = new ManualClock({ now: nowMs });
        await using it = await startClustersRest({
          clock,
          rules,
        });
        const seen = new Set<string>();
        const { plural } = kinds[kind];
        await fc.assert(
          fc.asyncProperty(world, async (given) => {
            await make(it, kind, given);
            const found: string[] = [];
            for (const phase of phases) {
              // What a page before this one has cached counts no more.
              await it.tables.query(
                `UPDATE ${plural} SET status_dirty = true WHERE status -> 'conditions' <> '[]'`,
              );
              const { body } = await it.ask(ctl, "GET", `/${plural}?limit=100&status=${phase}`);
              const shown = body[plural] as readonly { id: string; status: { phase: string } }[];
              assert.equal(body.total, shown.length);
              for (const { id, status } of shown) found.push(`${id} ${phase} ${status.phase}`);
            }
            const wanted: string[] = [];
            for (let index = 1; index <= given.resources.length; index++) {
              const { body } = await it.ask(ctl, "GET", `/${plural}/${id(index)}`);
              wanted.push(`${id(index)} ${body.status.phase} ${body.status.phase}`);
              seen.add(body.status.phase);
            }
            assert.deepEqual(found.toSorted(), wanted.toSorted());
          }),
          { numRuns: 8 },
        );
        assert.deepEqual([...seen].toSorted(), phases.toSorted());
      });
    }
  }
});
