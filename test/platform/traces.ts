// Everything there is in all that an operator writes to, whatever its name: what was not there before has been left behind.

import type { DynamicObject } from "@keelson/client";
import { serverTraces } from "@keelson/platform/testing";
import { until } from "../tools/until.ts";
import { sharedKeycloak } from "./keycloak-server.ts";
import type { OperatorBed } from "./operator-bed.ts";
import { sharedS3 } from "./s3-server.ts";

let beds = 0;

const managedLabel = "platform.internal/managed-by";

/** What comes and goes by itself. */
const passing = new Set(["Event", "Lease"]);

export class Traces {
  readonly #bed: OperatorBed;
  readonly #signal: AbortSignal;
  readonly #number = ++beds;
  #apps = 0;
  #known: ReadonlySet<string> = new Set();

  private constructor(bed: OperatorBed, signal: AbortSignal) {
    this.#bed = bed;
    this.#signal = signal;
  }

  static async startingAt(bed: OperatorBed, signal: AbortSignal): Promise<Traces> {
    const traces = new Traces(bed, signal);
    await traces.accept();
    return traces;
  }

  /** A name that tells the apps of this bed from those that use the same servers from others. */
  newName(): string {
    this.#apps += 1;
    return `kill-${this.#number}-${process.pid % 1_000}-${this.#apps}`;
  }

  /** What the apps of this bed have left behind, all of which are gone. */
  async left(): Promise<readonly string[]> {
    const isNew = (trace: string): boolean => !this.#known.has(trace);
    const left = [...(await this.#outside()), ...(await this.#ours())].filter(isNew);
    if (left.length === 0) {
      // What the cluster clears away takes its time: pods, their ReplicaSets, endpoints.
      let others: readonly string[] = [];
      const inTime = AbortSignal.any([this.#signal, AbortSignal.timeout(180_000)]);
      await until(async () => {
        others = (await this.#inside()).map(textOf).filter(isNew);
        return others.length === 0;
      }, inTime).catch(() => undefined);
      left.push(...others);
    }
    return left;
  }

  /** Whatever is there now may stay. */
  async accept(): Promise<void> {
    this.#known = new Set([...(await this.#outside()), ...(await this.#inside()).map(textOf)]);
  }

  /** Roles, schemas, buckets and realms, but for those of other beds, which look for them themselves. */
  async #outside(): Promise<readonly string[]> {
    const { settings, database } = this.#bed;
    const all = [...(await serverTraces(database))];
    if (settings.storage !== undefined) {
      all.push(...(await (await sharedS3()).buckets()).map((name) => `bucket ${name}`));
    }
    if (settings.auth.access !== undefined) {
      const { ask } = await sharedKeycloak();
      const realms = (await ask<{ realm: string }[]>("GET", "?briefRepresentation=true")) ?? [];
      const clients = (await ask<{ clientId: string }[]>("GET", "/master/clients")) ?? [];
      all.push(...realms.map(({ realm }) => `realm ${realm}`));
      all.push(...clients.map(({ clientId }) => `client ${clientId} of master`));
    }
    return all.filter((trace) => {
      const [, bed = this.#number] = /(?<![a-z0-9])kill[-_](\d+)[-_]/.exec(trace) ?? [];
      return Number(bed) === this.#number;
    });
  }

  /** What goes before its object does: what carries our label, and namespaces. */
  async #ours(): Promise<readonly string[]> {
    return (await this.#inside())
      .filter(({ kind, metadata }) => kind === "Namespace" || metadata.labels?.[managedLabel])
      .map(textOf);
  }

  /** Every object of every kind that the cluster serves. */
  async #inside(): Promise<readonly DynamicObject[]> {
    const found: DynamicObject[] = [];
    for (const { apiVersion, kind, verbs } of await this.#bed.client.kinds.all(this.#signal)) {
      if (!verbs.includes("list") || passing.has(kind)) continue;
      const { items } = await (
        await this.#bed.resource({ apiVersion, kind })
      ).list({}, this.#signal);
      found.push(...items.map((item) => ({ ...item, apiVersion, kind })));
    }
    return found;
  }
}

function textOf({ apiVersion, kind, metadata: { namespace, name } }: DynamicObject): string {
  return `${apiVersion} ${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}
