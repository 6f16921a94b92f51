// The Secrets of the cluster in digests. Users' own are among what an app's variables come from, and a change of one
// rolls its pods; what is in them is kept nowhere.

import { createHash } from "node:crypto";
import type { JsonObject } from "@keelson/base";
import { keyOf, type DynamicObject } from "@keelson/client";
import type { Caches, ObjectCache } from "@keelson/controller";

import { secretKind } from "../children/child.ts";
import type { ApplicationSpec } from "../kinds/application.ts";
import { namesOfChildren } from "../names/names.ts";
import type { SecretDigests } from "../steps/workload-step.ts";

export class CachedSecretDigests implements SecretDigests {
  readonly cache: ObjectCache;

  constructor(caches: Caches) {
    this.cache = caches.of(secretKind, { transform: digested });
  }

  async digestOf(
    ref: { readonly namespace: string; readonly name: string; readonly key?: string },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    await this.cache.untilSynced(signal);
    const { key, ...secret } = ref;
    const digests = this.cache.get(secret)?.["digests"] as Record<string, string> | undefined;
    if (digests === undefined || key === undefined) {
      return digests === undefined ? undefined : hash(JSON.stringify(Object.entries(digests)));
    }
    return digests[key];
  }
}

/** Which Secrets of a user an app's variables come from, as keys; of what is no variable none. */
export function secretsOf(object: DynamicObject): string[] {
  const { name = "", namespace = "" } = object.metadata;
  const { envVars } = (object["spec"] ?? {}) as unknown as Partial<ApplicationSpec>;
  const names = (Array.isArray(envVars) ? envVars : []).flatMap((variable) => {
    const secret: unknown = variable?.secretKeyRef?.name;
    return typeof secret === "string" ? [secret] : [];
  });
  return [namesOfChildren(name).env, ...names].map((secret) => keyOf({ namespace, name: secret }));
}

function digested(secret: DynamicObject): DynamicObject {
  const { name, namespace, uid, resourceVersion } = secret.metadata;
  const data = Object.entries((secret["data"] ?? {}) as Record<string, string>);
  const digests: JsonObject = Object.fromEntries(
    data.map(([key, value]): [string, string] => [key, hash(value)]).sort(byKey),
  );
  const metadata = { name, namespace, uid, resourceVersion } as DynamicObject["metadata"];
  return { ...secretKind, metadata, digests };
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : 1;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
