// What is asked before an object is written or deleted, besides the rules of its kind.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import type { User } from "../auth/user.ts";
import type { Resource } from "../resources/resource.ts";

export type Operation = "CREATE" | "UPDATE" | "DELETE";

export interface AdmissionRequest {
  readonly operation: Operation;
  readonly resource: Resource;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly namespace: string;
  /** Empty if it is still to be generated. */
  readonly name: string;
  readonly user: User;
  /** The object as it shall be stored; undefined where it goes. `admit` may change it. */
  readonly object: MutableJsonObject | undefined;
  /** The object as it is stored; undefined where it is new. */
  readonly old: JsonObject | undefined;
  readonly isDryRun: boolean;
  /** Says something to the client in a `Warning` header. */
  readonly warn: (text: string) => void;
}

/** One rule. Throws a `StatusError` to refuse. */
export interface AdmissionPlugin {
  readonly name: string;
  /** Which requests it wants to see; asked once for each resource and operation. */
  handles(resource: Resource, operation: Operation): boolean;
  /** May change the object. */
  admit?(request: AdmissionRequest, signal: AbortSignal): void | Promise<void>;
  /** Sees the object as it will be stored, after every change and every rule of its kind. */
  validate?(request: AdmissionRequest, signal: AbortSignal): void | Promise<void>;
}

/** All plugins, in their order. What nobody handles costs nothing. */
export class Admission {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #byResource = new WeakMap<
    Resource,
    Partial<Record<Operation, readonly AdmissionPlugin[]>>
  >();

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
  }

  /** At once where nobody waits: a promise costs every write. */
  admit(request: AdmissionRequest, signal: AbortSignal): void | Promise<void> {
    return this.#ask("admit", request, signal);
  }

  /** Likewise. */
  validate(request: AdmissionRequest, signal: AbortSignal): void | Promise<void> {
    return this.#ask("validate", request, signal);
  }

  #ask(
    step: "admit" | "validate",
    request: AdmissionRequest,
    signal: AbortSignal,
  ): void | Promise<void> {
    const plugins = this.for(request.resource, request.operation);
    for (let index = 0; index < plugins.length; index++) {
      const outcome = plugins[index]?.[step]?.(request, signal);
      if (outcome !== undefined) {
        return askRest(outcome, step, plugins.slice(index + 1), request, signal);
      }
    }
    return undefined;
  }

  /** Who wants to see such a request. */
  for(resource: Resource, operation: Operation): readonly AdmissionPlugin[] {
    const known = this.#byResource.get(resource) ?? {};
    if (!this.#byResource.has(resource)) this.#byResource.set(resource, known);
    return (known[operation] ??= this.#plugins.filter((plugin) =>
      plugin.handles(resource, operation),
    ));
  }
}

/** The same from where somebody waits. */
async function askRest(
  pending: Promise<void>,
  step: "admit" | "validate",
  plugins: readonly AdmissionPlugin[],
  request: AdmissionRequest,
  signal: AbortSignal,
): Promise<void> {
  await pending;
  for (const plugin of plugins) await plugin[step]?.(request, signal);
}
