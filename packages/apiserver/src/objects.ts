// Objects for our own loops: the same functions that the verbs call, by a user of the system.

import type { JsonObject, MutableJsonObject } from "@keelson/base";
import { StatusError } from "@keelson/kube";
import type { Row } from "@keelson/store";

import { rowsOf } from "./rows-of.ts";
import { findRow } from "./find-row.ts";
import { mastersGroup, type User } from "./auth/user.ts";
import { objectOf } from "./encoding/object-text.ts";
import type { Registry } from "./resources/registry.ts";
import type { Resource } from "./resources/resource.ts";
import { createObject } from "./writes/create-object.ts";
import { deleteObject, type Deleted } from "./writes/delete-object.ts";
import type { DeleteOptions } from "./writes/delete-options.ts";
import { updateObject } from "./writes/update-object.ts";
import {
  keyOf,
  ruleContext,
  storageOf,
  type WriteRequest,
  type Writing,
} from "./writes/write-request.ts";

/** Where an object is. */
export interface Place {
  /** Empty at the cluster scope. */
  readonly namespace: string;
  readonly name: string;
}

export interface ObjectsOptions extends Writing {
  readonly registry: Registry;
  /** What the loop is called, as a user. */
  readonly name: string;
  /** Who manages what it writes: the program that has this loop elsewhere. */
  readonly manager: string;
}

/** Reads and writes as one of our loops. What it writes passes admission and validation like anybody's. */
export class Objects {
  readonly #writing: Writing;
  readonly #registry: Registry;
  readonly #user: User;
  readonly #manager: string;

  constructor({ registry, name, manager, ...writing }: ObjectsOptions) {
    this.#writing = writing;
    this.#registry = registry;
    this.#user = { name: `system:${name}`, uid: "", groups: [mastersGroup], extra: {} };
    this.#manager = manager;
  }

  /** A resource that is always served. Throws if it is not: a bug. */
  resource(group: string, version: string, plural: string): Resource {
    const resource = this.#registry.find(group, version, plural);
    if (resource === undefined) throw new Error(`${plural}.${group}/${version} is not served`);
    return resource;
  }

  /** The object with its resourceVersion, or undefined. */
  async find(
    resource: Resource,
    place: Place,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    const row = await findRow(this.#writing.store, keyOf({ resource, ...place }), signal);
    return row === undefined ? undefined : objectOf(resource, row);
  }

  /** Everything in a namespace, or everywhere if that is empty, as stored. */
  rows(resource: Resource, namespace: string, signal: AbortSignal): AsyncGenerator<Row> {
    return rowsOf(this.#writing.store, { kind: storageOf(resource), namespace }, signal);
  }

  /** Creates an object as it stands; one that is there already is left alone. Answers whether it was created. */
  async ensure(resource: Resource, object: JsonObject, signal: AbortSignal): Promise<boolean> {
    const context = ruleContext(this.#writing);
    const read = resource.model.read(object, context);
    const { metadata = {} } = object as { metadata?: { name?: string; namespace?: string } };
    const place = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
    // Not by trying: what it holds already, such as an address, would be refused before its name is.
    if ((await this.find(resource, place, signal)) !== undefined) return false;
    try {
      await createObject(
        this.#writing,
        this.#request(resource, place),
        { object: read.object },
        signal,
      );
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.status.reason === "AlreadyExists") return false;
      throw error;
    }
  }

  /**
   * Changes an object, or its status. `change` answers the object as it shall be, or undefined to leave it. Answers
   * whether the object is there.
   */
  async update(
    resource: Resource,
    place: Place & { readonly subresource?: string },
    change: (live: JsonObject) => JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { subresource = "" } = place;
    const fields = resource.model.fieldManager(subresource);
    const context = ruleContext(this.#writing);
    const leave = new Error("nothing to change");
    try {
      await updateObject(
        this.#writing,
        { ...this.#request(resource, place), subresource },
        {
          change: (live = {}) => {
            const next = change(live);
            if (next === undefined) throw leave;
            const { object } = resource.model.read(next, context);
            const options = { manager: this.#manager, now: context.now };
            return fields.update(live, object, options) as MutableJsonObject;
          },
          mayCreate: false,
          isUnconditional: true,
        },
        signal,
      );
      return true;
    } catch (error) {
      if (error === leave) return true;
      if (error instanceof StatusError && error.status.reason === "NotFound") return false;
      throw error;
    }
  }

  /** Deletes an object. Undefined if it is not there, or is another by now. */
  async delete(
    resource: Resource,
    place: Place,
    options: Omit<DeleteOptions, "isDryRun">,
    signal: AbortSignal,
  ): Promise<Deleted | undefined> {
    const request = this.#request(resource, place);
    try {
      return await deleteObject(this.#writing, request, { ...options, isDryRun: false }, signal);
    } catch (error) {
      const isGone =
        error instanceof StatusError &&
        (error.status.reason === "NotFound" ||
          (error.status.reason === "Conflict" && options.uid !== undefined));
      if (isGone) return undefined;
      throw error;
    }
  }

  #request(resource: Resource, { namespace, name }: Place): WriteRequest {
    return {
      resource,
      namespace,
      name,
      subresource: "",
      user: this.#user,
      manager: this.#manager,
      isDryRun: false,
      warn: () => undefined,
    };
  }
}
