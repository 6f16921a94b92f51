// The cluster that we stand behind, through its API.

import {
  isJsonObject,
  jsonEqual,
  type Clock,
  type Json,
  type JsonObject,
  type Log,
  type Random,
} from "@keelson/base";
import {
  HostUnavailable,
  type Attributes,
  type ClusterValues,
  type Decision,
  type Host,
  type NamespacePhase,
  type Namespaces,
  type TokenVerdict,
  type User,
} from "@keelson/apiserver";
import {
  collectionOf,
  ResourceClient,
  runReflector,
  type Client,
  type DynamicObject,
  type ObjectRef,
  type Resource,
} from "@keelson/client";
import { StatusError } from "@keelson/kube";

import { Mirrored } from "./mirrored.ts";
import { accessReview, decisionOf, tokenReview, verdictOf } from "./reviews.ts";
import { configMaps, namespaces, secrets, trustConfigMap, trustNamespace } from "./resources.ts";

export interface ClusterHostOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The ConfigMap's data, as it was read before. */
  readonly authentication: Readonly<Record<string, string>>;
}

/** How long an answer of `ping` counts: anybody may ask for our health. */
const pingAgeMs = 1_000;
const pingMs = 1_500;
/** How long one review may take. */
const reviewMs = 5_000;
/** How long one look at an object may take. */
const lookMs = 3_000;

/** Reviews, ConfigMap and namespaces of a real cluster. `run` keeps what it remembers level. */
export class ClusterHost implements Host {
  readonly namespaces: Namespaces;
  /** The Secrets and ConfigMaps that objects of ours name. Nothing is remembered of them. */
  readonly values: ClusterValues;
  readonly #options: ClusterHostOptions;
  readonly #trust: Mirrored<DynamicObject, Readonly<Record<string, string>>>;
  readonly #phases: Mirrored<DynamicObject, NamespacePhase>;
  #authentication: Readonly<Record<string, string>>;
  /** What it was compared with last. */
  #heard: Readonly<Record<string, string>>;
  #pinged: { readonly answer: Promise<void>; readonly atMs: number } | undefined;

  constructor(options: ClusterHostOptions) {
    this.#options = options;
    this.#authentication = options.authentication;
    this.#heard = options.authentication;
    this.#trust = new Mirrored(dataOf);
    this.#phases = new Mirrored(phaseOf);
    this.namespaces = {
      // While the watch is broken, what it told may be long gone.
      isActive: (name) => this.#phases.isLive && this.#phases.get(name) === "active",
      ask: async (name, signal) => {
        const found = await this.#look(namespaces, { name }, signal);
        return found === undefined ? "missing" : phaseOf(found);
      },
    };
    this.values = {
      secret: (place, signal) => this.#look(secrets, place, signal),
      configMap: (place, signal) => this.#look(configMaps, place, signal),
    };
  }

  /** Follows the host until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, random, log } = this.#options;
    const shared = { clock, random, metrics: client.metrics };
    const selection = {
      namespace: trustNamespace,
      fieldSelector: `metadata.name=${trustConfigMap}`,
    };
    await Promise.all([
      runReflector(
        {
          ...shared,
          collection: collectionOf({ client, resource: configMaps, selection, priority: "high" }),
          mirror: this.#trust,
          log: log.child({ collection: "configmaps" }),
          onState: this.#trust.onState,
        },
        signal,
      ),
      runReflector(
        {
          ...shared,
          collection: collectionOf({ client, resource: namespaces, priority: "high" }),
          mirror: this.#phases,
          log: log.child({ collection: "namespaces" }),
          onState: this.#phases.onState,
        },
        signal,
      ),
    ]);
  }

  authentication(): Readonly<Record<string, string>> {
    // One that was deleted is about to come back: the host itself writes it.
    const said = this.#trust.get(trustConfigMap) ?? this.#authentication;
    if (said === this.#heard) return this.#authentication;
    this.#heard = said;
    if (!jsonEqual(said, this.#authentication)) this.#authentication = said;
    return this.#authentication;
  }

  async reviewToken(token: string, signal: AbortSignal): Promise<TokenVerdict> {
    // Behind those whom we know already: whoever makes tokens up must not hold them up.
    const status = await this.#review(tokenReview(token), "normal", signal);
    return verdictOf(status);
  }

  async reviewAccess(user: User, attributes: Attributes, signal: AbortSignal): Promise<Decision> {
    return decisionOf(await this.#review(accessReview(user, attributes), "high", signal));
  }

  /** Those who ask within a second share an answer. */
  ping(): Promise<void> {
    const { client, clock } = this.#options;
    const nowMs = clock.monotonic();
    if (this.#pinged === undefined || nowMs - this.#pinged.atMs > pingAgeMs) {
      const call = {
        method: "GET",
        path: "/version",
        timeoutMs: pingMs,
        priority: "high",
      } as const;
      const answer = client
        .call(call, clock.timeout(2 * pingMs))
        .then(() => undefined, unavailable);
      answer.catch(() => undefined); // Whoever asked hears of it.
      this.#pinged = { answer, atMs: nowMs };
    }
    return this.#pinged.answer;
  }

  async #review(
    { path, body }: { readonly path: string; readonly body: JsonObject },
    priority: "high" | "normal",
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const headers = { accept: "application/json", "content-type": "application/json" };
    const { client } = this.#options;
    const text = JSON.stringify(body);
    const answer = await client
      .call({ method: "POST", path, headers, body: text, timeoutMs: reviewMs, priority }, signal)
      .catch(unavailable);
    const status = statusOf(answer.body);
    if (status === undefined) throw new HostUnavailable(`${path} answered without a status`);
    return status;
  }

  /** An object as it is now; undefined if there is none. */
  async #look(
    resource: Resource,
    { namespace, name }: ObjectRef,
    signal: AbortSignal,
  ): Promise<DynamicObject | undefined> {
    const ref = namespace === undefined ? { name } : { namespace, name };
    const options = { timeoutMs: lookMs, priority: "high" } as const;
    const objects = new ResourceClient(this.#options.client, resource);
    return await objects.find({ ...ref, ...options }, signal).catch(unavailable);
  }
}

/** What the client threw, as the server's own word for it. What is secret stays out of the message. */
function unavailable(error: unknown): never {
  if (error instanceof StatusError) {
    throw new HostUnavailable(`it answered ${error.status.code}`, { cause: error });
  }
  throw new HostUnavailable("it does not answer", { cause: error });
}

function statusOf(body: Json | undefined): JsonObject | undefined {
  const status = isJsonObject(body) ? body["status"] : undefined;
  return isJsonObject(status) ? status : undefined;
}

/** The texts of a ConfigMap. */
export function dataOf(object: DynamicObject): Readonly<Record<string, string>> {
  const { data } = object;
  if (!isJsonObject(data)) return {};
  return Object.fromEntries(
    Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function phaseOf(object: DynamicObject): NamespacePhase {
  const { status } = object;
  const isGoing =
    object.metadata.deletionTimestamp !== undefined ||
    (isJsonObject(status) && status["phase"] === "Terminating");
  return isGoing ? "terminating" : "active";
}
