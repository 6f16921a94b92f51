// APIServices as the server keeps them: one for each version that it serves, and the truth about all others. One replica sees to it.

import { jsonEqual, type Clock, type JsonObject, type Log, type Random } from "@keelson/base";
import { timeFromMs } from "@keelson/kube";

import { objectAt, objectsAt, textAt } from "../fields.ts";
import { KeyQueue } from "../loops/key-queue.ts";
import type { Mirror } from "../mirror.ts";
import { isTerminating } from "../object-metadata.ts";
import type { Objects } from "../objects.ts";
import type { Registry } from "../resources/registry.ts";
import { isManaged, localApiServices } from "./local-api-service.ts";
import { serviceOf } from "./unserved-versions.ts";

export interface ApiServicesOptions {
  readonly apiServices: Mirror;
  readonly objects: Objects;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** How often it is looked whether the service of an APIService has come or gone. */
const serviceMs = 30_000;

/** Makes what is missing, takes away what is no longer served, and says what is not available. */
export async function runApiServices(
  options: ApiServicesOptions,
  signal: AbortSignal,
): Promise<void> {
  const { apiServices, registry, clock, random, log } = options;
  let wanted = localApiServices(registry);
  const queue = new KeyQueue({
    name: "api services",
    clock,
    random,
    log,
    workers: 8,
    look: (name, within) => look(options, { name, wanted: wanted.get(name) }, within),
  });
  using _served = registry.onChange(() => {
    const before = wanted;
    wanted = localApiServices(registry);
    // Definitions may be many, and each of them changes what is served.
    for (const name of new Set(wanted.keys()).symmetricDifference(new Set(before.keys())))
      queue.add(name);
  });
  using _services = apiServices.onChange((change) => {
    queue.add((change.type === "set" ? change.entry : change.previous).key.name);
  });
  for (const name of wanted.keys()) queue.add(name);
  for (const { key } of apiServices.values()) queue.add(key.name);
  await queue.run(signal);
}

async function look(
  { apiServices, objects, clock }: ApiServicesOptions,
  { name, wanted }: { readonly name: string; readonly wanted: JsonObject | undefined },
  signal: AbortSignal,
): Promise<number | undefined> {
  const resource = objects.resource("apiregistration.k8s.io", "v1", "apiservices");
  const place = { namespace: "", name };
  const found = apiServices.get("", name)?.object;
  if (found === undefined) {
    if (wanted !== undefined) await objects.ensure(resource, wanted, signal);
    return undefined;
  }
  if (isTerminating(found)) return undefined;
  const service = serviceOf(found);
  if (service !== undefined) {
    const now = timeFromMs(clock.now());
    const said = await unavailability(objects, service, signal);
    const tell = (live: JsonObject): JsonObject | undefined => withCondition(live, said, now);
    await objects.update(resource, { ...place, subresource: "status" }, tell, signal);
    return serviceMs;
  }
  // What somebody else has made is left as it is.
  if (!isManaged(found)) return undefined;
  if (wanted === undefined) {
    await objects.delete(resource, place, {}, signal);
  } else if (!jsonEqual(found["spec"] ?? null, wanted["spec"] ?? null)) {
    await objects.update(
      resource,
      place,
      (live) => ({ ...live, spec: wanted["spec"] ?? {} }),
      signal,
    );
  }
  return undefined;
}

interface Said {
  readonly reason: string;
  readonly message: string;
}

/** Why an APIService is not available: there is no such service, or nobody asks it. */
async function unavailability(
  objects: Objects,
  service: JsonObject,
  signal: AbortSignal,
): Promise<Said> {
  const [namespace, name] = [textAt(service, "namespace"), textAt(service, "name")];
  const services = objects.resource("", "v1", "services");
  const isThere = (await objects.find(services, { namespace, name }, signal)) !== undefined;
  return isThere
    ? {
        reason: "FailedDiscoveryCheck",
        message: "this server asks no other on behalf of its clients",
      }
    : {
        reason: "ServiceNotFound",
        message: `service/${name} in "${namespace}" is not present`,
      };
}

/** The APIService with what is said of it; undefined if it says so already. */
function withCondition(live: JsonObject, said: Said, now: string): JsonObject | undefined {
  const status = objectAt(live, "status");
  const conditions = objectsAt(status, "conditions");
  const before = conditions.find(({ type }) => type === "Available");
  const isSame = before?.["status"] === "False";
  const { reason, message } = said;
  if (isSame && before?.["reason"] === reason && before["message"] === message) return undefined;
  const lastTransitionTime = (isSame ? before?.["lastTransitionTime"] : undefined) ?? now;
  const condition = { type: "Available", status: "False", lastTransitionTime, reason, message };
  const others = conditions.filter((one) => one !== before);
  return { ...live, status: { ...status, conditions: [...others, condition] } };
}
