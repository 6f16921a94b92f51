// The Secrets of the operator's own namespace that apps get something of: the keys of their buckets, and what the
// platform's administrators have said of identity providers. Watched, so that a change reaches apps at once.

import { refOf, type DynamicObject, type ObjectRef } from "@keelson/client";
import type { Caches, ObjectCache } from "@keelson/controller";

import type { App } from "../app.ts";
import { secretKind } from "../children/child.ts";
import { providers, type ApplicationSpec } from "../kinds/application.ts";
import { providerSecretName } from "../names/names.ts";
import type { OperatorSettings } from "./settings.ts";

export class OperatorSecrets {
  readonly cache: ObjectCache;
  readonly #namespace: string;
  readonly #keys: string | undefined;

  constructor(caches: Caches, { namespace, storage }: OperatorSettings) {
    this.#namespace = namespace;
    this.#keys = storage?.appS3Secret;
    const ours = new Set([...providers.map(providerSecretName), this.#keys]);
    const transform = (secret: DynamicObject): DynamicObject =>
      ours.has(secret.metadata.name) ? secret : withoutContent(secret);
    this.cache = caches.of(secretKind, { namespace, transform });
  }

  async find(ref: ObjectRef, signal: AbortSignal): Promise<DynamicObject | undefined> {
    await this.cache.untilSynced(signal);
    return this.cache.get(ref);
  }

  /** Which the buckets of an app need: another text whenever they are others. */
  versionForStorage({ spec }: Pick<App, "spec">): string {
    return this.#versionOf(this.#forStorage(spec));
  }

  /** The same of its login. */
  versionForAuth({ spec }: Pick<App, "spec">): string {
    return this.#versionOf(this.#forAuth(spec));
  }

  /** Whether an app that asks for this has something of the Secret. */
  isUsedBy(secret: DynamicObject, spec: Partial<ApplicationSpec>): boolean {
    const name = secret.metadata.name ?? "";
    return this.#forStorage(spec).includes(name) || this.#forAuth(spec).includes(name);
  }

  #forStorage({ storage }: Partial<ApplicationSpec>): readonly string[] {
    return storage?.enabled === true && this.#keys !== undefined ? [this.#keys] : [];
  }

  #forAuth({ auth }: Partial<ApplicationSpec>): readonly string[] {
    const asked = auth?.enabled === true ? auth.providers : undefined;
    return Array.isArray(asked) ? asked.map(providerSecretName) : [];
  }

  #versionOf(names: readonly string[]): string {
    const versions = names.map((name) => {
      const { uid, resourceVersion } =
        this.cache.get({ namespace: this.#namespace, name })?.metadata ?? {};
      return [name, uid, resourceVersion];
    });
    return JSON.stringify(versions);
  }
}

/** Who else's they are is nobody's business here. */
function withoutContent(secret: DynamicObject): DynamicObject {
  const { namespace = "", name } = refOf(secret);
  const { uid = "", resourceVersion = "" } = secret.metadata;
  return { ...secretKind, metadata: { name, namespace, uid, resourceVersion } };
}
