// Where the Service `kubernetes` leads: to every server that lives. Each holds a lease on its address for as long as it does, puts
// the address in, and takes out those that nobody holds any more. A Service that somebody has deleted each brings back.

import { networkInterfaces } from "node:os";

import {
  isCancellation,
  jsonEqual,
  type Clock,
  type JsonObject,
  type Log,
  type Random,
} from "@keelson/base";
import type { Store } from "@keelson/store";

import { metadataText } from "../object-metadata.ts";
import type { Objects } from "../objects.ts";

const name = "kubernetes";
const namespace = "default";

/** How long the address of a server that was killed stays; two renewals may fail before one that lives is taken for gone. */
const ttlMs = 15_000;
const renewMs = 5_000;
/** Whoever looks whether an address is free has it meanwhile. */
const lookMs = 1_000;
/** The same for all: one that was killed and starts again has its address at once. */
const holder = "server";

interface Address {
  readonly ip: string;
  readonly port: number;
}

export interface OwnAddressOptions {
  readonly objects: Objects;
  readonly store: Pick<Store, "claim" | "release">;
  /** Where we listen, on this machine. */
  readonly port: number;
  /** Makes the Service, and takes its address, where that is missing. */
  readonly ensureService: (signal: AbortSignal) => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export class OwnAddress {
  readonly #options: OwnAddressOptions;
  readonly #own: Address;

  constructor(options: OwnAddressOptions) {
    this.#options = options;
    this.#own = { ip: machineAddress(), port: options.port };
  }

  /** Says once where the Service leads. It can be done again. */
  async publish(signal: AbortSignal): Promise<void> {
    const { objects, store } = this.#options;
    await store.claim(leaseOf(this.#own), { holder, ttlMs }, signal);
    const endpoints = objects.resource("", "v1", "endpoints");
    const found = await objects.find(endpoints, { namespace, name }, signal);
    const gone = await this.#gone(addressesIn(found ?? {}), signal);
    let all: readonly Address[] = [this.#own];
    await this.#put(
      ["", "v1", "endpoints", "Endpoints"],
      name,
      (live) => {
        all = inOrder([...addressesIn(live).filter((one) => !gone.has(textOf(one))), this.#own]);
        return { subsets: byPort(all).map(subsetOf) };
      },
      signal,
    );
    await this.#putSlices(all, signal);
  }

  /** Keeps it so until `signal` aborts; then others may take the address out. */
  async run(signal: AbortSignal): Promise<void> {
    const { store, clock, log, ensureService } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(renewMs, signal).catch(() => undefined);
      if (signal.aborted) break;
      try {
        await this.publish(signal); // First: the lease must not wait.
        await ensureService(signal);
      } catch (error) {
        if (isCancellation(error, signal)) break;
        log.warn({ error }, "the Service kubernetes could not be kept as it should be");
      }
    }
    await store.release(leaseOf(this.#own), holder, clock.timeout(1_000)).catch(() => undefined);
  }

  /** Those of other servers whose lease is free. */
  async #gone(addresses: readonly Address[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { store, random } = this.#options;
    const gone = new Set<string>();
    for (const one of addresses) {
      if (textOf(one) === textOf(this.#own)) continue;
      const looker = random.uuid();
      const claim = { holder: looker, ttlMs: lookMs };
      if ((await store.claim(leaseOf(one), claim, signal)) === undefined) continue;
      gone.add(textOf(one));
      await store.release(leaseOf(one), looker, signal);
    }
    return gone;
  }

  /** A slice has the same port for all: the servers of each further port have a slice of their own. */
  async #putSlices(all: readonly Address[], signal: AbortSignal): Promise<void> {
    const { objects } = this.#options;
    const names = new Set<string>();
    for (const [index, addresses] of byPort(all).entries()) {
      const sliceName = index === 0 ? name : `${name}-${addresses[0]?.port}`;
      names.add(sliceName);
      const type = ["discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"] as const;
      await this.#put(type, sliceName, () => sliceOf(addresses), signal);
    }
    const slices = objects.resource("discovery.k8s.io", "v1", "endpointslices");
    for await (const { body } of objects.rows(slices, namespace, signal)) {
      const sliceName = metadataText(body.value, "name");
      if (names.has(sliceName) || !/^kubernetes-\d+$/.test(sliceName)) continue;
      await objects.delete(slices, { namespace, name: sliceName }, {}, signal);
    }
  }

  /** Creates the object, or changes what is not as it should be. */
  async #put(
    [group, version, plural, kind]: readonly [string, string, string, string],
    objectName: string,
    contentOf: (live: JsonObject) => JsonObject,
    signal: AbortSignal,
  ): Promise<void> {
    const { objects } = this.#options;
    const resource = objects.resource(group, version, plural);
    const labels = {
      "endpointslice.kubernetes.io/skip-mirror": "true",
      ...(group === "" ? {} : { "kubernetes.io/service-name": name }),
    };
    const object: JsonObject = {
      kind,
      apiVersion: group === "" ? version : `${group}/${version}`,
      metadata: { name: objectName, namespace, labels },
      ...contentOf({}),
    };
    if (await objects.ensure(resource, object, signal)) return;
    await objects.update(
      resource,
      { namespace, name: objectName },
      (live) => {
        const next = { ...live, ...contentOf(live) };
        return jsonEqual(next, live) ? undefined : next;
      },
      signal,
    );
  }
}

function leaseOf(address: Address): string {
  return `address ${textOf(address)}`;
}

function textOf({ ip, port }: Address): string {
  return `${ip}:${port}`;
}

/** Each once. */
function inOrder(addresses: readonly Address[]): readonly Address[] {
  return [...new Map(addresses.map((one) => [textOf(one), one])).values()].toSorted(
    (a, b) => a.port - b.port || (a.ip < b.ip ? -1 : 1),
  );
}

function byPort(addresses: readonly Address[]): readonly (readonly Address[])[] {
  return [...Map.groupBy(addresses, ({ port }) => port).values()];
}

/** What Endpoints say, whoever wrote them. */
function addressesIn(endpoints: JsonObject): readonly Address[] {
  const { subsets } = endpoints as {
    subsets?: readonly {
      readonly addresses?: readonly { readonly ip: string }[];
      readonly ports?: readonly { readonly port: number }[];
    }[];
  };
  return (subsets ?? []).flatMap(({ addresses = [], ports = [] }) =>
    addresses.flatMap(({ ip }) => ports.map(({ port }) => ({ ip, port }))),
  );
}

function subsetOf(addresses: readonly Address[]): JsonObject {
  return { addresses: addresses.map(({ ip }) => ({ ip })), ports: portsOf(addresses) };
}

function sliceOf(addresses: readonly Address[]): JsonObject {
  return {
    addressType: "IPv4",
    endpoints: addresses.map(({ ip }) => ({ addresses: [ip], conditions: { ready: true } })),
    ports: portsOf(addresses),
  };
}

function portsOf([first]: readonly Address[]): JsonObject[] {
  return first === undefined ? [] : [{ name: "https", port: first.port, protocol: "TCP" }];
}

/** An address of this machine that others could reach. Loopback addresses may not stand in Endpoints. */
function machineAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const found = all.find(({ family, internal }) => family === "IPv4" && !internal);
  return found?.address ?? documentationAddress;
}

/** From a range that belongs to nobody: the machine has no address but its own. */
const documentationAddress = "192.0.2.1";
