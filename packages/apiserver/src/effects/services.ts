// The addresses and ports of Services (KB 76).

import type { Clock, JsonObject, Log, MutableJson, MutableJsonObject, Random } from "@keelson/base";
import { failures, quote, timeFromMs } from "@keelson/kube";
import type { Store } from "@keelson/store";

import { objectAt } from "../fields.ts";
import { nameOf, namespaceOf } from "../object-metadata.ts";
import type { Finish, KindEffects, WriteRequest } from "../writes/write-request.ts";
import { addressAt, addressCount, addressIndex, type AddressRange } from "./address-range.ts";
import { Reservations } from "./reservations.ts";
import {
  addressesOf,
  allocatesNodePorts,
  clusterIpsError,
  copyClusterIp,
  initFamilies,
  invalid,
  keepAllocated,
  needsClusterIp,
  needsHealthCheck,
  needsNodePort,
  nodePortError,
  ownPorts,
  portsOf,
  requestedFor,
  specOf,
} from "./service-spec.ts";

export interface ServiceEffectsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly addresses: AddressRange;
}

/** Under which kinds the store keeps what is taken. */
export const addressKind = "IPAddress.networking.k8s.io";
export const nodePortKind = "NodePort.keelson.dev";
/** The label of an address that was taken for a Service. */
export const managedAddress = ["ipaddress.kubernetes.io/managed-by", "ipallocator.k8s.io"] as const;

/** The ports that nodes lend to Services. */
const nodePortMin = 30_000;
const nodePortMax = 32_767;
/** How many of the lowest are left to those who ask by number, as long as there are others. */
const nodePortsReserved = 86;
/** How often a free one is looked for by chance before all are looked at in turn. */
const guesses = 16;
/** How long giving back may take once nobody waits for it. */
const giveBackMs = 10_000;

/** Gives a Service its addresses and ports when it is created or changed, and takes them back. */
export function serviceEffects(options: ServiceEffectsOptions): KindEffects {
  const allocator = new ServiceAllocator(options);
  return {
    beginCreate: async (service, request, signal) => {
      const given = new Given(allocator);
      try {
        const spec = specOf(service);
        copyClusterIp(spec, undefined);
        initFamilies(service, spec, undefined);
        await allocator.giveAddresses(service, spec, { request, given }, signal);
        await allocator.giveNodePorts(service, spec, { old: {}, request, given }, signal);
        return given.finish;
      } catch (error) {
        given.finish({ isStored: false });
        throw error;
      }
    },
    beginUpdate: async (service, old, request, signal) => {
      if (request.subresource !== "") return undefined;
      const given = new Given(allocator);
      const before = objectAt(old, "spec");
      try {
        const spec = specOf(service);
        keepAllocated(spec, before);
        copyClusterIp(spec, before);
        initFamilies(service, spec, before);
        const had = needsClusterIp(before);
        if (!had && needsClusterIp(spec)) {
          await allocator.giveAddresses(service, spec, { request, given }, signal);
        }
        if (had && !needsClusterIp(spec)) given.release(addressesOf(before), []);
        await allocator.giveNodePorts(service, spec, { old: before, request, given }, signal);
        const kept = needsNodePort(spec) ? new Set(portsOf(spec)) : new Set<number>();
        given.release(
          [],
          portsOf(before).filter((port) => !kept.has(port)),
        );
        return given.finish;
      } catch (error) {
        given.finish({ isStored: false });
        throw error;
      }
    },
    afterDelete: (service) => {
      const spec = objectAt(service, "spec");
      allocator.giveBack(addressesOf(spec), portsOf(spec));
    },
  };
}

/** Of a Service whose address is taken apart from it: it is filled in, and nothing is given or given back. */
export const filledIn: KindEffects = {
  beginCreate: async (service) => {
    const spec = specOf(service);
    copyClusterIp(spec, undefined);
    initFamilies(service, spec, undefined);
    return undefined;
  },
};

/** The row that says which Service has an address. */
export function heldAddress(
  address: string,
  holder: { readonly namespace: string; readonly name: string },
  { clock, random }: Pick<ServiceEffectsOptions, "clock" | "random">,
): JsonObject {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "IPAddress",
    metadata: {
      name: address,
      uid: random.uuid(),
      creationTimestamp: timeFromMs(clock.now()),
      labels: {
        "ipaddress.kubernetes.io/ip-family": "IPv4",
        [managedAddress[0]]: managedAddress[1],
      },
    },
    spec: { parentRef: { resource: "services", ...holder } },
  };
}

/** What one write has taken, and what it no longer needs: settled once it is known whether the write holds. */
class Given {
  readonly #allocator: ServiceAllocator;
  readonly addresses: string[] = [];
  readonly ports: number[] = [];
  #oldAddresses: readonly string[] = [];
  #oldPorts: readonly number[] = [];

  constructor(allocator: ServiceAllocator) {
    this.#allocator = allocator;
  }

  release(addresses: readonly string[], ports: readonly number[]): void {
    this.#oldAddresses = [...this.#oldAddresses, ...addresses];
    this.#oldPorts = [...this.#oldPorts, ...ports];
  }

  readonly finish: Finish = ({ isStored }) => {
    // Whoever gave back what a Service has after all would give it to two. `service-repair.ts` looks later.
    if (isStored === undefined) return;
    if (isStored) this.#allocator.giveBack(this.#oldAddresses, this.#oldPorts);
    else this.#allocator.giveBack(this.addresses, this.ports);
  };
}

function namelessHolder(address: string): string {
  return `IPAddress.networking.k8s.io ${quote(address)} is invalid: spec.parentRef.name: Required value`;
}

interface Wish {
  readonly request: WriteRequest;
  readonly given: Given;
}

class ServiceAllocator {
  readonly #options: ServiceEffectsOptions;
  readonly #addresses: Reservations;
  readonly #ports: Reservations;

  constructor(options: ServiceEffectsOptions) {
    this.#options = options;
    this.#addresses = new Reservations(options.store, addressKind);
    this.#ports = new Reservations(options.store, nodePortKind);
  }

  async giveAddresses(
    service: MutableJsonObject,
    spec: MutableJsonObject,
    { request, given }: Wish,
    signal: AbortSignal,
  ): Promise<void> {
    if (!needsClusterIp(spec) || spec["clusterIP"] === "None") return;
    const asked = typeof spec["clusterIP"] === "string" ? spec["clusterIP"] : "";
    const address = asked === "" ? undefined : asked;
    const refuse = (why: string): Error => invalid(service, [clusterIpsError(spec, why)]);
    // An address names its holder, and is taken before anybody asks whether the holder has a name.
    const isNameless = nameOf(service) === "" && !request.isDryRun;
    if (address !== undefined) {
      const problem = this.#problemOf(address);
      if (problem !== undefined) throw refuse(`failed to allocate IP ${address}: ${problem}`);
      if (isNameless) throw refuse(`failed to allocate IP ${address}: ${namelessHolder(address)}`);
      const isOurs = await this.#takeAddress(service, address, request, signal);
      if (!isOurs)
        throw refuse(`failed to allocate IP ${address}: provided IP is already allocated`);
      if (!request.isDryRun) given.addresses.push(address);
      return;
    }
    if (isNameless) {
      const free = await this.#nextAddress(service, { ...request, isDryRun: true }, signal);
      const error = clusterIpsError(spec, `failed to allocate IP: ${namelessHolder(free)}`);
      throw invalid(service, [{ ...error, value: [""] }]);
    }
    const found = await this.#nextAddress(service, request, signal);
    if (!request.isDryRun) given.addresses.push(found);
    spec["clusterIP"] = found;
    spec["clusterIPs"] = [found];
  }

  #problemOf(address: string): string | undefined {
    const { addresses } = this.#options;
    const index = addressIndex(addresses, address);
    if (index === undefined) return "the provided network does not match the current range";
    if (index > 0 && index < addressCount(addresses) - 1) return undefined;
    return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${addresses.text}`;
  }

  /** By chance from the upper part, so that the lower stays free for those who ask by name; then in turn. */
  async #nextAddress(
    service: JsonObject,
    request: WriteRequest,
    signal: AbortSignal,
  ): Promise<string> {
    const { addresses, random } = this.#options;
    const last = addressCount(addresses) - 2;
    const reserved = Math.min(Math.max(16, Math.floor(last / 16)), 256, Math.floor(last / 2));
    const upper = last - reserved;
    const start = reserved + 1 + random.integer(Math.max(1, upper));
    for (let tried = 0; tried < last; tried += 1) {
      const index =
        tried < guesses
          ? reserved + 1 + random.integer(Math.max(1, upper))
          : ((start + tried - 1) % last) + 1;
      const address = addressAt(addresses, index);
      if (await this.#takeAddress(service, address, request, signal)) return address;
    }
    throw failures.internalError(
      `failed to allocate a serviceIP for Service ${JSON.stringify(nameOf(service))}: range is full`,
    );
  }

  async #takeAddress(
    service: JsonObject,
    address: string,
    { isDryRun }: WriteRequest,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (isDryRun) return !(await this.#addresses.isTaken(address, signal));
    const holder = { namespace: namespaceOf(service), name: nameOf(service) };
    return this.#addresses.take(address, heldAddress(address, holder, this.#options), signal);
  }

  async giveNodePorts(
    service: MutableJsonObject,
    spec: MutableJsonObject,
    { old, request, given }: Wish & { readonly old: JsonObject },
    signal: AbortSignal,
  ): Promise<void> {
    const held = new Set(portsOf(old));
    const take = async (port: number): Promise<boolean> => {
      if (held.has(port)) return true;
      if (!(await this.#takePort(service, port, request, signal))) return false;
      held.add(port);
      if (!request.isDryRun) given.ports.push(port);
      return true;
    };
    const takeAnother = async (port: number): Promise<boolean> =>
      !held.has(port) && (await take(port));
    if (needsNodePort(spec)) {
      const ports = ownPorts(spec);
      /** Two protocols of one port share the node's port. */
      const byPort = new Map<MutableJson | undefined, number>();
      for (const [index, port] of ports.entries()) {
        const asked = typeof port["nodePort"] === "number" ? port["nodePort"] : 0;
        if (asked === 0 && !allocatesNodePorts(spec)) continue;
        const known = byPort.get(port["port"]);
        if (asked === 0 && known !== undefined) {
          port["nodePort"] = known;
          continue;
        }
        const requested = asked === 0 ? requestedFor(ports, port["port"]) : asked;
        if (requested !== 0) {
          const problem = await this.#portProblem(requested, take);
          if (problem !== undefined)
            throw invalid(service, [nodePortError(index, requested, problem)]);
          port["nodePort"] = requested;
        } else {
          port["nodePort"] = await this.#nextPort(takeAnother);
        }
        if (known === undefined) byPort.set(port["port"], port["nodePort"]);
      }
    }
    if (needsHealthCheck(spec)) {
      const asked =
        typeof spec["healthCheckNodePort"] === "number" ? spec["healthCheckNodePort"] : 0;
      if (asked === 0) spec["healthCheckNodePort"] = await this.#nextPort(takeAnother);
      else {
        const problem = await this.#portProblem(asked, take);
        if (problem !== undefined) {
          throw failures.internalError(
            `failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`,
          );
        }
      }
    }
  }

  async #portProblem(
    port: number,
    take: (port: number) => Promise<boolean>,
  ): Promise<string | undefined> {
    if (port < nodePortMin || port > nodePortMax) {
      return `provided port is not in the valid range. The range of valid ports is ${nodePortMin}-${nodePortMax}`;
    }
    return (await take(port)) ? undefined : "provided port is already allocated";
  }

  /** By chance from the upper part; then that in turn, and the lower. */
  async #nextPort(take: (port: number) => Promise<boolean>): Promise<number> {
    const { random } = this.#options;
    const first = nodePortMin + nodePortsReserved;
    const upper = nodePortMax - first + 1;
    for (let guess = 0; guess < guesses; guess += 1) {
      const port = first + random.integer(upper);
      if (await take(port)) return port;
    }
    for (let port = first; port <= nodePortMax; port += 1) if (await take(port)) return port;
    for (let port = nodePortMin; port < first; port += 1) if (await take(port)) return port;
    throw failures.internalError("failed to allocate a nodePort: range is full");
  }

  async #takePort(
    service: JsonObject,
    port: number,
    { isDryRun }: WriteRequest,
    signal: AbortSignal,
  ): Promise<boolean> {
    const name = String(port);
    if (isDryRun) return !(await this.#ports.isTaken(name, signal));
    const { clock, random } = this.#options;
    const creationTimestamp = timeFromMs(clock.now());
    const object: JsonObject = {
      apiVersion: "keelson.dev/v1",
      kind: "NodePort",
      metadata: { name, uid: random.uuid(), creationTimestamp },
      spec: { namespace: namespaceOf(service), name: nameOf(service) },
    };
    return this.#ports.take(name, object, signal);
  }

  /** Nobody waits for it. What a crash leaves taken `service-repair.ts` finds. */
  giveBack(addresses: readonly string[], ports: readonly number[]): void {
    if (addresses.length === 0 && ports.length === 0) return;
    const { clock, log } = this.#options;
    const signal = clock.timeout(giveBackMs);
    const all = [
      ...addresses.map((address) => this.#addresses.giveBack(address, signal)),
      ...ports.map((port) => this.#ports.giveBack(String(port), signal)),
    ];
    Promise.all(all).catch((error: unknown) => {
      log.warn({ error, addresses, ports }, "addresses of a Service could not be given back yet");
    });
  }
}
