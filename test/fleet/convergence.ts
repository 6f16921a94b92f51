// Users, people with kubectl, a hostile manager and misfortune, all by chance; and afterwards the truth must hold.

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { seededRandom, type Json, type Random } from "@keelson/base";
import type { DynamicObject, ResourceClient } from "@keelson/client";
import { DatabaseUnavailable } from "@keelson/database";
import type { TcpProxy } from "../tools/tcp-proxy.ts";
import { until } from "../tools/until.ts";
import { startBed, type Bed, type Worker } from "./bed.ts";

/** How long everything may take to come true. */
const patienceMs = 180_000;
/** Leases are short here: what a lost worker held is free again within the run. */
const leaseMs = 1_500;
const fields = ["a", "b", "c", "d"] as const;
const names = ["one", "two", "three", "four", "five", "six", "seven", "eight"] as const;
const kinds = ["ConfigMap", "Secret"] as const;

type Data = Readonly<Record<string, string>>;

/** One world from one seed: `steps` of everything at once, then peace, then the look at what is there. */
export async function converges(
  { seed, steps }: { readonly seed: number | string; readonly steps: number },
  signal: AbortSignal,
): Promise<void> {
  const told: string[] = [];
  try {
    await run({ random: seededRandom(seed), steps, tell: (line) => told.push(line) }, signal);
  } catch (error) {
    const last = told.slice(-60).join("\n  ");
    throw new Error(`seed ${seed}, ${steps} steps; the last of them:\n  ${last}`, { cause: error });
  }
}

interface RunOptions {
  readonly random: Random;
  readonly steps: number;
  readonly tell: (line: string) => void;
}

async function run({ random, steps, tell }: RunOptions, signal: AbortSignal): Promise<void> {
  let faults = 0;
  await using it = await startBed(signal, {
    viaProxy: true,
    onStatement: ({ statement }) => {
      if (faults > 0 && random.float() < faults) {
        throw new DatabaseUnavailable(`no ${statement} today`);
      }
    },
  });
  const world = await World.open(it, { random, tell }, signal);
  for (let step = 0; step < steps; step += 1) {
    const misfortune = random.float();
    if (misfortune < 0.1) {
      faults = random.pick([0, 0.05, 0.3]);
      tell(`statements fail with ${faults}`);
    } else if (misfortune < 0.2) world.weather();
    else if (misfortune < 0.26) await world.replaceWorker();
    await world.act();
    // Now and then everybody is given the time to finish: the states in between must be met too.
    if (random.float() < 0.25) await wait(random.integer(60), undefined, { signal });
  }
  faults = 0;
  tell("peace");
  await world.peace();
  await world.comesTrue();
}

class World {
  readonly #it: Bed;
  readonly #random: Random;
  readonly #tell: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #proxy: TcpProxy;
  readonly #objects: ReadonlyMap<string, ResourceClient>;
  /** What is nobody's business of ours, as it was left. */
  readonly #foreign: readonly DynamicObject[];
  readonly #workers: Worker[] = [];
  #isHalfOpen = false;

  private constructor(
    it: Bed,
    { random, tell }: { readonly random: Random; readonly tell: (line: string) => void },
    parts: {
      readonly proxy: TcpProxy;
      readonly objects: ReadonlyMap<string, ResourceClient>;
      readonly foreign: readonly DynamicObject[];
    },
    signal: AbortSignal,
  ) {
    this.#it = it;
    this.#random = random;
    this.#tell = tell;
    this.#signal = signal;
    this.#proxy = parts.proxy;
    this.#objects = parts.objects;
    this.#foreign = parts.foreign;
  }

  static async open(
    it: Bed & { readonly proxy: TcpProxy | undefined },
    chance: { readonly random: Random; readonly tell: (line: string) => void },
    signal: AbortSignal,
  ): Promise<World> {
    const { proxy } = it;
    assert.ok(proxy !== undefined);
    const objects = new Map<string, ResourceClient>();
    const foreign: DynamicObject[] = [];
    for (const kind of kinds) {
      const client = await it.client.resource({ apiVersion: "v1", kind }, signal);
      objects.set(kind, client);
      const object = manifest(kind, "foreign", { a: "theirs" });
      // It even bears our mark, copied from somewhere: a mark alone proves nothing.
      const annotations = { "kontrol/resource-id": "1", "kontrol/generation": "1" };
      const marked = { ...object, metadata: { ...object.metadata, annotations } };
      foreign.push(await client.create(marked, { fieldManager: "strangers" }, signal));
    }
    const world = new World(it, chance, { proxy, objects, foreign }, signal);
    for (let n = 0; n < 2; n += 1) world.#workers.push(it.startWorker({ leaseMs }));
    return world;
  }

  /** Something that somebody does. */
  async act(): Promise<void> {
    const who = this.#random.float();
    if (who < 0.55) await this.#user();
    else if (who < 0.85) await this.#person();
    else await this.#hostile();
  }

  weather(): void {
    const weather = this.#random.pick(["cut", "refuse", "half-open", "clear", "clear"] as const);
    this.#tell(`network: ${weather}`);
    this.#proxy.isRefusing = weather === "refuse";
    if (weather === "half-open") this.#proxy.weather = { type: "half-open" };
    // What was half open has lost bytes, and must not speak again: that no network does.
    else this.#clear({ cuts: weather !== "clear" || this.#isHalfOpen });
    this.#isHalfOpen = weather === "half-open";
  }

  #clear({ cuts }: { readonly cuts: boolean }): void {
    if (cuts) this.#proxy.cut();
    this.#proxy.weather = { type: "clear" };
  }

  async replaceWorker(): Promise<void> {
    this.#tell("a worker is replaced");
    const [worker] = this.#workers.splice(this.#random.integer(this.#workers.length), 1);
    const stopping = worker?.stop();
    this.#workers.push(this.#it.startWorker({ leaseMs }));
    await stopping;
  }

  /** No more faults; whatever was paused goes on; and everything that is wanted must come true. */
  async peace(): Promise<void> {
    this.#proxy.isRefusing = false;
    this.#clear({ cuts: true }); // What is half open would be noticed by itself, in half a minute.
    // Also what is being deleted: paused, it waits.
    for (const { id } of await this.#it.rest.tables.query<{ id: number }>(
      `SELECT id FROM resources`,
    )) {
      await this.#ask("POST", `/resources/${id}/resume`);
      // Who has quarrelled with the hostile one waits for minutes by now, as it should.
      await this.#ask("POST", `/resources/${id}/sync`);
    }
  }

  /**
   * Again and again until all of it holds at once: a call that was long on its way may still arrive after everything was
   * right, and is seen and undone. What is not, or stays, is a failure.
   */
  async comesTrue(): Promise<void> {
    let last: unknown;
    const holds = async (): Promise<boolean> => {
      try {
        await this.#checkPeace();
        await this.#check();
        return true;
      } catch (error) {
        last = error;
        return false;
      }
    };
    try {
      await until(holds, AbortSignal.any([this.#signal, AbortSignal.timeout(patienceMs)]));
    } catch {
      throw new Error("it does not come true", { cause: last });
    }
  }

  /** Nothing is left to do, or differs, by the records. */
  async #checkPeace(): Promise<void> {
    const left = await this.#it.rest.tables.query(
      `SELECT r.id, r.kind, r.name, s.status, a.due_at, a.lease_until, a.error_message, c.drift
       FROM resources r JOIN resource_statuses s ON s.resource_id = r.id
       LEFT JOIN resource_attempts a ON a.resource_id = r.id
       LEFT JOIN resource_current_states c ON c.resource_id = r.id
       WHERE s.status <> 'synced' OR a.due_at IS NOT NULL`,
    );
    assert.equal(left.length, 0, `no peace: ${JSON.stringify(left, undefined, 1)}`);
  }

  /** Desired is applied is current, by the records and by the cluster itself; no object of ours without its row. */
  async #check(): Promise<void> {
    const rows = await this.#rows();
    const wanted = new Map(rows.map((row) => [`${row.kind}/${row.name}`, row]));
    for (const [kind, client] of this.#objects) {
      for (const object of (await client.list({ namespace: "default" }, this.#signal)).items) {
        const row = wanted.get(`${kind}/${object.metadata.name}`);
        const isForeign = this.#foreign.some(
          ({ metadata }) => metadata.uid === object.metadata.uid,
        );
        const id = object.metadata.annotations?.["kontrol/resource-id"];
        if (row !== undefined || isForeign || id === undefined) continue;
        assert.fail(`${kind} ${object.metadata.name} is an orphan of row ${id}`);
      }
    }
    for (const { id, kind, name, generation, desired, applied } of rows) {
      const what = `${kind} ${name} of row ${id}`;
      const object = await this.#client(kind).get({ namespace: "default", name }, this.#signal);
      assert.deepEqual(applied, desired, `${what}: applied is desired`);
      assert.equal(object.metadata.annotations?.["kontrol/resource-id"], String(id), what);
      assert.equal(object.metadata.annotations["kontrol/generation"], String(generation), what);
      const live = dataOf(object);
      const ours = Object.keys(desired.data).map((field) => [field, live[field]]);
      assert.deepEqual(Object.fromEntries(ours), desired.data, `${what}: current is desired`);
      const { current } = (await this.#ask("GET", `/resources/${id}`)) as never;
      const { k8s_resource_version: version, uid } = current as Record<string, Json>;
      const { resourceVersion } = object.metadata;
      assert.deepEqual([version, uid], [resourceVersion, object.metadata.uid], `${what}: seen`);
      this.#checkDropped(what, object, Object.keys(desired.data));
    }
    for (const before of this.#foreign) {
      const ref = { namespace: "default", name: before.metadata.name ?? "" };
      const after = await this.#client(before.kind).get(ref, this.#signal);
      assert.deepEqual(after, before, `the foreign ${before.kind} is as it was`);
    }
    await this.#checkQueries(rows.length);
  }

  /** What is not wanted any more is no longer ours: it is gone, or is another's. */
  #checkDropped(what: string, { metadata }: DynamicObject, wanted: readonly string[]): void {
    const entries = (metadata.managedFields ?? []) as readonly {
      readonly manager: string;
      readonly fieldsV1: Readonly<Record<string, object>>;
    }[];
    const ours = entries.filter(({ manager }) => manager === "kontrol");
    const owned = ours.flatMap(({ fieldsV1 }) => Object.keys(fieldsV1["f:data"] ?? {}));
    const expected = wanted.map((field) => `f:${field}`);
    assert.deepEqual(
      owned.filter((field) => field !== ".").sort(),
      expected.sort(),
      `${what}: what we own is what is wanted`,
    );
  }

  /** The contract's queries say the same. */
  async #checkQueries(count: number): Promise<void> {
    const [found] = await this.#it.rest.tables.query<{ synced: number; behind: number }>(
      `SELECT count(*) FILTER (WHERE r.generation = ras.generation AND ras.generation = rcs.generation)::integer AS synced,
         count(*) FILTER (WHERE r.generation != COALESCE(ras.generation, 0))::integer AS behind
       FROM resources r
       LEFT JOIN resource_applied_states ras ON r.id = ras.resource_id
       LEFT JOIN resource_current_states rcs ON r.id = rcs.resource_id`,
    );
    assert.deepEqual(found, { synced: count, behind: 0 });
  }

  async #user(): Promise<void> {
    const random = this.#random;
    const kind = random.pick(kinds);
    const name = random.pick(names);
    const rows = await this.#rows();
    const row = rows.find((row) => row.kind === kind && row.name === name);
    const body = {
      cluster_id: "prod",
      namespace: "default",
      kind,
      name,
      desired_spec: specOf(kind, this.#data()),
    };
    if (row === undefined) {
      await this.#do(`creates ${kind} ${name}`, "POST", "/resources", body);
      return;
    }
    const { id } = row;
    const label = `${kind} ${name} (${id})`;
    const deed = random.integer(12);
    if (deed < 5) {
      const { desired_spec } = body;
      await this.#do(`changes ${label}`, "PUT", `/resources/${id}`, { desired_spec });
    } else if (deed < 7) await this.#do(`deletes ${label}`, "DELETE", `/resources/${id}`);
    else if (deed < 8) await this.#do(`pauses ${label}`, "POST", `/resources/${id}/pause`);
    else if (deed < 10) await this.#do(`resumes ${label}`, "POST", `/resources/${id}/resume`);
    else if (deed < 11)
      await this.#do(`puts ${label} back`, "PUT", `/resources/${id}`, { revision: 1 });
    else {
      const changes = [
        { op: "update", id, desired_spec: body.desired_spec },
        { op: "upsert", ...body, name: random.pick(names) },
      ];
      await this.#do(`changes ${label} and another`, "POST", "/batch", { changes });
    }
  }

  /** Somebody with kubectl. */
  async #person(): Promise<void> {
    const random = this.#random;
    const kind = random.pick(kinds);
    const name = random.pick(names);
    const ref = { namespace: "default", name };
    const deed = random.integer(10);
    const options = { fieldManager: "kubectl-edit" };
    await this.#mayFail(async () => {
      if (deed < 6) {
        const field = random.pick(fields);
        this.#tell(`kubectl changes ${field} of ${kind} ${name}`);
        const body = specOf(kind, { [field]: this.#value() });
        await this.#client(kind).patch(ref, { type: "merge", body, options }, this.#signal);
      } else if (deed < 8) {
        this.#tell(`kubectl deletes ${kind} ${name}`);
        await this.#client(kind).delete(ref, this.#signal);
      } else {
        this.#tell(`kubectl takes the marks of ${kind} ${name}`);
        const body = { metadata: { annotations: { "kontrol/generation": "77" } } };
        await this.#client(kind).patch(ref, { type: "merge", body, options }, this.#signal);
      }
    });
  }

  /** A manager that takes our fields, whoever has them; it makes objects of its own too. */
  async #hostile(): Promise<void> {
    const kind = this.#random.pick(kinds);
    const name = this.#random.pick(names);
    this.#tell(`the hostile one applies ${kind} ${name}`);
    const object = manifest(kind, name, this.#data());
    await this.#mayFail(() =>
      this.#client(kind).apply(object, { fieldManager: "hostile", force: true }, this.#signal),
    );
  }

  #data(): Data {
    const chosen = fields.filter(() => this.#random.float() < 0.6);
    return Object.fromEntries(chosen.map((field) => [field, this.#value()]));
  }

  #value(): string {
    return String(this.#random.integer(1_000));
  }

  #client(kind: string): ResourceClient {
    const client = this.#objects.get(kind);
    assert.ok(client !== undefined);
    return client;
  }

  /** Not there, or changed in between: a person shrugs. */
  async #mayFail(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!["NotFound", "Conflict", "AlreadyExists"].includes(reasonOf(error))) throw error;
    }
  }

  async #do(
    what: string,
    method: "POST" | "PUT" | "DELETE",
    path: string,
    body?: object,
  ): Promise<void> {
    const { code } = await this.#it.rest.ask(method, path, body as never);
    this.#tell(`a user ${what}: ${code}`);
    assert.ok(code < 500 && code !== 400, `${method} ${path}: ${code}`);
  }

  async #ask(method: "GET" | "POST", path: string): Promise<unknown> {
    return (await this.#it.rest.ask(method, path)).body;
  }

  async #rows(): Promise<readonly Row[]> {
    return this.#it.rest.tables.query<Row>(
      `SELECT r.id, r.kind, r.name, r.generation, r.desired_spec AS desired, ras.spec AS applied
       FROM resources r LEFT JOIN resource_applied_states ras ON ras.resource_id = r.id
       WHERE r.deleted_at IS NULL ORDER BY r.id`,
    );
  }
}

interface Row {
  readonly id: number;
  readonly kind: string;
  readonly name: string;
  readonly generation: number;
  readonly desired: { readonly data: Data };
  readonly applied: { readonly data: Data } | null;
}

/** Values of a Secret are written in base64, and kept so. */
function specOf(kind: string, data: Data): { readonly data: Data } {
  const encode = (value: string): string =>
    kind === "Secret" ? Buffer.from(value).toString("base64") : value;
  const encoded = Object.entries(data).map(([field, value]) => [field, encode(value)]);
  return { data: Object.fromEntries(encoded) as Data };
}

function manifest(kind: string, name: string, data: Data): DynamicObject {
  const metadata = { name, namespace: "default" };
  return { apiVersion: "v1", kind, metadata, ...specOf(kind, data) };
}

function dataOf(object: DynamicObject): Data {
  return (object["data"] ?? {}) as Data;
}

function reasonOf(error: unknown): string {
  const { status } = error as { status?: { reason?: string } };
  return status?.reason ?? "";
}
