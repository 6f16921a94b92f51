// The Service `kubernetes`, by which whatever runs in the cluster finds us, and where it leads.

import { networkInterfaces } from "node:os";

import { jsonEqual, type Clock, type JsonObject, type Random } from "@keelson/base";
import type { Store } from "@keelson/store";

import { addressAt, addressRange } from "../effects/address-range.ts";
import { Reservations } from "../effects/reservations.ts";
import { addressKind, heldAddress } from "../effects/services.ts";
import type { Objects } from "../objects.ts";

const name = "kubernetes";
const namespace = "default";
const labels = { component: "apiserver", provider: "kubernetes" };

export interface OwnServiceOptions {
  /** They give a Service no address. */
  readonly objects: Objects;
  readonly store: Store;
  readonly range: string;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Creates the Service and the range that its address comes from. Everybody else takes an address before there is a Service, and
 * gives it back if there comes none. Here others start at the same time, and whoever is interrupted begins again: it is always the
 * same address, so it is taken last, for whoever made the Service.
 */
export async function ensureOwnService(
  { objects, store, range, ...made }: OwnServiceOptions,
  signal: AbortSignal,
): Promise<void> {
  const address = addressAt(addressRange(range), 1);
  const cidrs = objects.resource("networking.k8s.io", "v1", "servicecidrs");
  const services = objects.resource("", "v1", "services");
  await objects.ensure(
    cidrs,
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "ServiceCIDR",
      metadata: { name },
      spec: { cidrs: [range] },
    },
    signal,
  );
  await objects.ensure(
    services,
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, namespace, labels },
      spec: {
        type: "ClusterIP",
        clusterIP: address,
        ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
        sessionAffinity: "None",
      },
    },
    signal,
  );
  const addresses = new Reservations(store, addressKind);
  if (await addresses.isTaken(address, signal)) return;
  await addresses.take(address, heldAddress(address, { namespace, name }, made), signal);
}

/** Says where the Service leads: to this machine, at the port on which we listen. */
export async function publishAddress(
  { objects, port }: { readonly objects: Objects; readonly port: number },
  signal: AbortSignal,
): Promise<void> {
  const address = machineAddress();
  const ports = [{ name: "https", port, protocol: "TCP" }];
  const endpoints: JsonObject = { subsets: [{ addresses: [{ ip: address }], ports }] };
  const slice: JsonObject = {
    addressType: "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports,
  };
  await put(
    objects,
    ["", "v1", "endpoints"],
    { kind: "Endpoints", apiVersion: "v1" },
    endpoints,
    signal,
  );
  await put(
    objects,
    ["discovery.k8s.io", "v1", "endpointslices"],
    { kind: "EndpointSlice", apiVersion: "discovery.k8s.io/v1" },
    slice,
    signal,
  );
}

async function put(
  objects: Objects,
  [group, version, plural]: readonly [string, string, string],
  type: JsonObject,
  content: JsonObject,
  signal: AbortSignal,
): Promise<void> {
  const resource = objects.resource(group, version, plural);
  const own = {
    "endpointslice.kubernetes.io/skip-mirror": "true",
    ...(group === "" ? {} : { "kubernetes.io/service-name": name }),
  };
  const object: JsonObject = { ...type, metadata: { name, namespace, labels: own }, ...content };
  if (await objects.ensure(resource, object, signal)) return;
  await objects.update(
    resource,
    { namespace, name },
    (live) => {
      const next = { ...live, ...content };
      return jsonEqual(next, live) ? undefined : next;
    },
    signal,
  );
}

/** An address of this machine that others could reach. Loopback addresses may not stand in Endpoints. */
function machineAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  const found = all.find(({ family, internal }) => family === "IPv4" && !internal);
  return found?.address ?? documentationAddress;
}

/** From a range that belongs to nobody: the machine has no address but its own. */
const documentationAddress = "192.0.2.1";
