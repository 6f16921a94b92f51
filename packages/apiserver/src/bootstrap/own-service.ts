// The Service `kubernetes`, by which whatever runs in the cluster finds us.

import type { Clock, Random } from "@keelson/base";
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
