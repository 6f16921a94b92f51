// Who may what. The identity comes from outside; what makes a controller is decided here.

import { RestError, type Identity } from "@keelson/base";
import type { Resource } from "../resources/resource.ts";

export interface AccessOptions {
  /** The one address that is a controller by itself. */
  readonly controllerEmail: string;
  /** Addresses that are bound to the name of a controller. */
  readonly controllerIdentities: Readonly<Record<string, string>>;
}

/** Whoever asks, and what that makes them. */
export interface Caller {
  readonly identity: Identity;
  readonly isController: boolean;
  /** The only name that this caller may use, where it is bound to one. */
  readonly boundName: string | undefined;
  /** The request it asks by, for the log. */
  readonly requestId: string | undefined;
}

/** A resource that is there, and is somebody else's: to the caller it is not. */
export class HiddenFromStranger extends RestError {
  constructor(what: string) {
    super("RESOURCE_NOT_FOUND", `no such ${what}`);
  }
}

export class Access {
  readonly #controllerEmail: string;
  readonly #bound: ReadonlyMap<string, string>;
  readonly #boundNames: ReadonlySet<string>;

  constructor({ controllerEmail, controllerIdentities }: AccessOptions) {
    this.#controllerEmail = controllerEmail;
    this.#bound = new Map(Object.entries(controllerIdentities));
    this.#boundNames = new Set(this.#bound.values());
  }

  callerOf(identity: Identity, requestId?: string): Caller {
    const boundName = this.#bound.get(identity.user);
    const isController =
      boundName !== undefined ||
      identity.user === this.#controllerEmail ||
      identity.roles.includes("controller");
    return { identity, isController, boundName, requestId };
  }

  /** Throws `FORBIDDEN` where the caller may not speak as the controller `name`. */
  requireName({ boundName }: Caller, name: string): void {
    if (boundName !== undefined && boundName !== name) {
      throw new RestError("FORBIDDEN", `you are bound to the controller ${boundName}`);
    }
    if (boundName === undefined && this.#boundNames.has(name)) {
      throw new RestError("FORBIDDEN", `the controller ${name} is bound to another identity`);
    }
  }
}

/** Throws `FORBIDDEN` for a credential that may only read. */
export function requireWriter({ identity }: Caller): void {
  if (identity.readOnly) throw new RestError("FORBIDDEN", "this credential may only read");
}

export function requireController({ isController }: Caller): void {
  if (!isController) throw new RestError("FORBIDDEN", "only controllers may do this");
}

/** What the caller may not see is not there; nor is what is gone, unless a controller asks for it. */
export function visible(
  { identity, isController }: Caller,
  kind: string,
  found: Resource | undefined,
  { includeDeleted = false }: { readonly includeDeleted?: boolean } = {},
): Resource {
  const isThere =
    found !== undefined && (found.deletedAt === null || (includeDeleted && isController));
  if (!isThere) throw new RestError("RESOURCE_NOT_FOUND", `no such ${kind}`);
  if (!isController && found.createdBy !== identity.user) throw new HiddenFromStranger(kind);
  return found;
}
