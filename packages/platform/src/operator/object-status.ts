// The status of one object while a pass works on it: what is said there, and the ledger of what it owns outside. It is
// written through the status subresource, only where it differs, and with the version that was seen, so that nobody who
// leads no more can write over a successor.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";
import { isConflict, isNotFound, refOf, type Client, type DynamicObject } from "@keelson/client";
import type { CachedResource } from "@keelson/controller";

import { fieldManager } from "../children/child.ts";
import type { ApplicationStatus } from "../kinds/application.ts";
import type { Owned, OwnedKind } from "../kinds/status.ts";
import type { PreviewStatus } from "../kinds/preview-environment.ts";
import type { Ledger } from "../ownership/ledger.ts";

/** What is said of either kind. */
export type Said = Partial<Omit<ApplicationStatus & PreviewStatus, "owned">>;

/** The object is gone, or is another one of the same name. */
export class ObjectGone extends Error {
  override readonly name = "ObjectGone";
}

export interface ObjectStatusOptions {
  readonly client: Client;
  /** The cache that hears of our writes. */
  readonly resource: CachedResource;
  readonly object: DynamicObject;
}

/** Somebody writes all the time: then it is tried again later. */
const triesMax = 16;

export class ObjectStatus implements Ledger {
  readonly #options: ObjectStatusOptions;
  /** As it was last seen in the cluster. */
  #live: DynamicObject;
  #said: Said;
  readonly #owned: Map<string, Owned>;
  #writing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #isBehind = false;

  constructor(options: ObjectStatusOptions) {
    this.#options = options;
    this.#live = options.object;
    const { owned = [], ...said } = statusOf(options.object);
    this.#said = said;
    this.#owned = new Map(owned.map((one) => [nameOf(one.kind, one.name), one]));
  }

  /** What is said, be it written or not. */
  get said(): Said {
    return this.#said;
  }

  /** Whether the last write failed, so that the cluster does not know what is said. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Says something else from the next write on; what is undefined is said no more. */
  say(change: { readonly [K in keyof Said]: Said[K] | undefined }): void {
    const said = { ...this.#said, ...change };
    this.#said = Object.fromEntries(
      Object.entries(said).filter(([, value]) => value !== undefined),
    );
  }

  stateOf(kind: OwnedKind, name: string): Owned["state"] | undefined {
    return this.#owned.get(nameOf(kind, name))?.state;
  }

  all(kind: OwnedKind): readonly Owned[] {
    return [...this.#owned.values()].filter((one) => one.kind === kind);
  }

  async record(owned: Owned, signal: AbortSignal): Promise<void> {
    this.#owned.set(nameOf(owned.kind, owned.name), owned);
    await this.save(signal);
  }

  async forget(kind: OwnedKind, name: string, signal: AbortSignal): Promise<void> {
    this.#owned.delete(nameOf(kind, name));
    await this.save(signal);
  }

  /** Resolves once all that is said and recorded is in the cluster. Whoever asks at the same time shares a write. */
  save(signal: AbortSignal): Promise<void> {
    this.#next ??= this.#afterThis(signal);
    return this.#next;
  }

  async #afterThis(signal: AbortSignal): Promise<void> {
    await this.#writing.catch(() => undefined);
    this.#next = undefined; // From here on it is too late to be in this write.
    this.#isBehind = true;
    this.#writing = this.#write(signal);
    await this.#writing;
    this.#isBehind = false;
  }

  async #write(signal: AbortSignal): Promise<void> {
    const { client, resource } = this.#options;
    const ref = refOf(this.#live);
    for (let attempt = 1; ; attempt += 1) {
      const wanted = this.#wanted();
      const current = (this.#live["status"] ?? {}) as JsonObject;
      if (jsonEqual(current, wanted)) return;
      const gone = Object.keys(current).filter((key) => !Object.hasOwn(wanted, key));
      const { resourceVersion = "" } = this.#live.metadata;
      const body: JsonObject = {
        metadata: { resourceVersion },
        status: { ...Object.fromEntries(gone.map((key) => [key, null])), ...wanted },
      };
      try {
        const options = { subresource: "status", fieldManager };
        this.#live = await resource.patch(ref, { type: "merge", body, options }, signal);
        return;
      } catch (error) {
        if (isNotFound(error)) throw new ObjectGone(`${ref.name} is gone`, { cause: error });
        if (!isConflict(error) || attempt === triesMax) throw error;
        this.#live = await this.#read(client, signal);
      }
    }
  }

  async #read(client: Client, signal: AbortSignal): Promise<DynamicObject> {
    const ref = refOf(this.#live);
    const found = await (await client.resource(this.#live, signal)).find(ref, signal);
    if (found === undefined || found.metadata.uid !== this.#live.metadata.uid) {
      throw new ObjectGone(`${ref.name} is gone`);
    }
    return found;
  }

  #wanted(): JsonObject {
    const owned = [...this.#owned.values()];
    const status = { ...this.#said, ...(owned.length === 0 ? {} : { owned }) };
    return status as unknown as Json as JsonObject;
  }
}

export function statusOf(object: DynamicObject): Said & { readonly owned?: readonly Owned[] } {
  return (object["status"] ?? {}) as unknown as Said & { readonly owned?: readonly Owned[] };
}

function nameOf(kind: OwnedKind, name: string): string {
  return `${kind} ${name}`;
}
