// Custom kinds for tests: made from a schema, ready when the promise is.

import { writeJson, type Json, type JsonObject } from "@keelson/base";

import type { Oracle } from "./cluster.ts";
import { collectionPath } from "./kinds/paths.ts";
import { isEstablished } from "./is-established.ts";
import { until } from "../tools/until.ts";

export interface CustomKindOptions {
  /** The structural schema of the kind, `type: object` at its root. */
  readonly schema: JsonObject;
  /** A name for the kind, letters and digits, starting with a capital. */
  readonly kind: string;
  readonly group?: string;
  readonly isNamespaced?: boolean;
  /** Members of the version besides `schema`: `subresources`, `additionalPrinterColumns`, `selectableFields`. */
  readonly version?: JsonObject;
}

/** The real server did not take the definition; `status` is its answer. */
export class DefinitionRefused extends Error {
  readonly code = "DefinitionRefused";
  readonly status: string;

  constructor(name: string, status: string) {
    super(`${name} was refused: ${status}`);
    this.status = status;
  }
}

/** A kind that exists until it is disposed. */
export class CustomKind implements AsyncDisposable {
  readonly group: string;
  readonly version = "v1";
  readonly kind: string;
  readonly plural: string;
  readonly apiVersion: string;
  readonly isNamespaced: boolean;
  readonly #oracle: Oracle;

  private constructor(oracle: Oracle, { kind, group, isNamespaced }: CustomKindOptions) {
    this.#oracle = oracle;
    this.kind = kind;
    this.plural = `${kind.toLowerCase()}s`;
    this.group = group ?? "lab.example.com";
    this.apiVersion = `${this.group}/${this.version}`;
    this.isNamespaced = isNamespaced ?? true;
  }

  /** Creates the definition and waits until it is Established and its objects are served. */
  static async create(
    oracle: Oracle,
    options: CustomKindOptions,
    signal: AbortSignal,
  ): Promise<CustomKind> {
    const kind = new CustomKind(oracle, options);
    const created = await oracle.client.send(
      { method: "POST", path: definitionsPath, body: writeJson(kind.#definition(options)) },
      signal,
    );
    if (created.status !== 201) throw new DefinitionRefused(kind.#name, created.text);
    await until(async () => {
      const { body } = await oracle.client.send({ path: kind.#definitionPath }, signal);
      return isEstablished(body as Json);
    }, signal);
    // Established is said a moment before it is so.
    await until(async () => {
      const { status } = await oracle.client.send({ path: `${kind.collection()}?limit=1` }, signal);
      return status === 200;
    }, signal);
    return kind;
  }

  /** The path of its objects, in a namespace or across all. */
  collection(namespace?: string): string {
    return collectionPath(this, namespace);
  }

  /** Deletes the definition, and with it all objects, and waits until both are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    const signal = AbortSignal.timeout(180_000);
    const path = this.#definitionPath;
    await this.#oracle.client.send({ method: "DELETE", path }, signal);
    // The definition is gone a moment before its objects are no longer served.
    for (const one of [path, `${this.collection()}?limit=1`]) {
      await until(async () => {
        const { status } = await this.#oracle.client.send({ path: one }, signal);
        return status === 404;
      }, signal);
    }
  }

  get #name(): string {
    return `${this.plural}.${this.group}`;
  }

  get #definitionPath(): string {
    return `${definitionsPath}/${this.#name}`;
  }

  #definition({ schema, version = {} }: CustomKindOptions): Json {
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: this.#name },
      spec: {
        group: this.group,
        scope: this.isNamespaced ? "Namespaced" : "Cluster",
        names: { plural: this.plural, kind: this.kind },
        versions: [
          {
            ...version,
            name: this.version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: schema },
          },
        ],
      },
    };
  }
}

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
