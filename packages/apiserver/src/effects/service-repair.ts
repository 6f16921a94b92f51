// Addresses and ports that a crash left taken by nobody are given back (KB 76).

import { type Clock, isJsonObject, type JsonObject, type Log, type Random } from "@keelson/base";
import { Conflict, NotFound, type Row, type Store } from "@keelson/store";

import { rowsOf } from "../rows-of.ts";
import { objectAt } from "../fields.ts";
import { KeyQueue } from "../loops/key-queue.ts";
import { metadataText } from "../object-metadata.ts";
import { addressesOf, portsOf } from "./service-spec.ts";
import { addressKind, managedAddress, nodePortKind } from "./services.ts";

export interface ServiceRepairOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const everyMs = 3 * 60_000;
/** A reservation may be this much older than its Service: no write takes as long. */
const ageMsMin = 60_000;

/** Compares at the start, and every few minutes, until `signal` aborts. */
export async function runServiceRepair(
  options: ServiceRepairOptions,
  signal: AbortSignal,
): Promise<void> {
  const queue = new KeyQueue({
    ...options,
    name: "service repair",
    workers: 1,
    look: async (_, within) => {
      await repairServices(options, within);
      return everyMs;
    },
  });
  queue.add("all");
  await queue.run(signal);
}

/** Gives back what no Service holds. Answers what that was. */
export async function repairServices(
  { store, clock, log }: Pick<ServiceRepairOptions, "store" | "clock" | "log">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Reservations first: whoever takes one now has a Service by the time that those are read, or is too young.
  const taken: Row[] = [];
  for (const kind of [addressKind, nodePortKind]) {
    for await (const row of rowsOf(store, { kind, namespace: "" }, signal)) {
      const made = Date.parse(metadataText(row.body.value, "creationTimestamp"));
      const isOld = Number.isNaN(made) || made <= clock.now() - ageMsMin;
      if (isOld && (kind === nodePortKind || isManaged(row.body.value))) taken.push(row);
    }
  }
  if (taken.length === 0) return [];
  const held = new Set<string>();
  for await (const { body } of rowsOf(store, { kind: "Service", namespace: "" }, signal)) {
    const spec = objectAt(body.value, "spec");
    for (const address of addressesOf(spec)) held.add(`${addressKind} ${address}`);
    for (const port of portsOf(spec)) held.add(`${nodePortKind} ${port}`);
  }
  const given: string[] = [];
  for (const { key, revision } of taken) {
    if (held.has(`${key.kind} ${key.name}`)) continue;
    try {
      await store.delete(key, { expect: { revision } }, signal);
      given.push(key.name);
    } catch (error) {
      if (!(error instanceof NotFound) && !(error instanceof Conflict)) throw error;
    }
  }
  if (given.length > 0) log.info({ given }, "addresses of no Service were given back");
  return given;
}

/** Whether it is ours to take away: anybody may create an IPAddress. */
function isManaged(address: JsonObject): boolean {
  const { metadata } = address;
  const labels = isJsonObject(metadata) ? metadata["labels"] : undefined;
  const [name, value] = managedAddress;
  return isJsonObject(labels) && labels[name] === value;
}
