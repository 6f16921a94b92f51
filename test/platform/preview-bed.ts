// An operator's bed with a parent and its previews, and what becomes of them outside.

import assert from "node:assert/strict";
import type { JsonObject } from "@keelson/base";
import type { DynamicObject } from "@keelson/client";
import { leftovers, nothing } from "@keelson/platform/testing";
import { until } from "../tools/until.ts";
import { sharedKeycloak, withoutKeycloak } from "./keycloak-server.ts";
import { newName, OperatorBed, seenIn, type BedOptions, type Seen } from "./operator-bed.ts";
import { sharedS3, withoutS3 } from "./s3-server.ts";

export const previewKind = {
  apiVersion: "platform.internal/v1alpha1",
  kind: "PreviewEnvironment",
} as const;
export const namespaceKind = { apiVersion: "v1", kind: "Namespace" } as const;
const deploymentKind = { apiVersion: "apps/v1", kind: "Deployment" } as const;
/** What is to be had here. */
export const hasStorage = withoutS3 === false;
export const hasLogin = withoutKeycloak === false;

export interface SeenPreview extends Seen {
  readonly status: JsonObject;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

/** An operator's bed, with a parent in `staging` and its previews in `dev`. */
export class PreviewBed implements AsyncDisposable {
  readonly operators: OperatorBed;
  readonly app = newName();
  /** Of a parent that says so, as of one that does not. */
  readonly schemaName = this.app.replaceAll("-", "_");
  readonly schema = `${this.schemaName}_pr42`;
  readonly #signal: AbortSignal;

  private constructor(operators: OperatorBed, signal: AbortSignal) {
    this.operators = operators;
    this.#signal = signal;
  }

  static async prepare(signal: AbortSignal, options: BedOptions = {}): Promise<PreviewBed> {
    return new PreviewBed(await OperatorBed.prepare(options, signal), signal);
  }

  async namespaced(names: readonly string[]): Promise<void> {
    for (const name of names) await this.create({ ...namespaceKind, metadata: { name } });
  }

  async create(object: DynamicObject): Promise<DynamicObject> {
    return await (await this.operators.resource(object)).create(object, {}, this.#signal);
  }

  async parent(spec: JsonObject): Promise<void> {
    const staging = { environment: "staging", ...spec };
    await this.operators.apply(this.app, staging, { namespace: "staging" });
  }

  async preview(name: string, spec: JsonObject): Promise<void> {
    const given = { pullRequest: 42, branch: "fix", ...spec };
    await this.create({ ...previewKind, metadata: { name, namespace: "dev" }, spec: given });
  }

  async patch(name: string, body: JsonObject): Promise<void> {
    const previews = await this.operators.resource(previewKind);
    await previews.patch({ namespace: "dev", name }, { type: "merge", body }, this.#signal);
  }

  async delete(name: string): Promise<void> {
    const previews = await this.operators.resource(previewKind);
    await previews.delete({ namespace: "dev", name }, this.#signal);
  }

  async see(name: string): Promise<SeenPreview | undefined> {
    const object = await this.operators.find(previewKind, name, "dev");
    if (object === undefined) return undefined;
    return { ...seenIn(object), status: (object["status"] ?? {}) as JsonObject };
  }

  async until(name: string, is: (seen: SeenPreview) => boolean): Promise<SeenPreview> {
    let last: SeenPreview | undefined;
    try {
      return await until(async () => {
        last = await this.see(name);
        return last !== undefined && is(last) && last;
      }, this.#signal);
    } catch (error) {
      console.error(`${name} was last seen as`, last?.phase, last?.messages, last?.owned);
      throw error;
    }
  }

  async untilGone(name: string): Promise<void> {
    await until(async () => (await this.see(name)) === undefined, this.#signal);
  }

  async containers(where: string): Promise<readonly Container[]> {
    const found = await this.operators.find(deploymentKind, `${this.app}-pr42`, where);
    assert.ok(found !== undefined);
    const { template } = found["spec"] as unknown as {
      template: { spec: { containers: readonly Container[] } };
    };
    return template.spec.containers;
  }

  async scaling(where: string): Promise<{ readonly scaling: JsonObject }> {
    const kind = { apiVersion: "autoscaling/v2", kind: "HorizontalPodAutoscaler" };
    const found = await this.operators.find(kind, `${this.app}-pr42`, where);
    assert.ok(found !== undefined);
    const { minReplicas, maxReplicas } = found["spec"] as unknown as Record<string, number>;
    return { scaling: { minReplicas: minReplicas ?? 0, maxReplicas: maxReplicas ?? 0 } };
  }

  /** The reasons of the events about a preview. */
  async events(name: string): Promise<readonly string[]> {
    const events = await this.operators.resource({ apiVersion: "events.k8s.io/v1", kind: "Event" });
    const { items } = await events.list({ namespace: "dev" }, this.#signal);
    return items
      .filter((event) => (event["regarding"] as { name?: string } | undefined)?.name === name)
      .map((event) => event["reason"] as string);
  }

  /** Of the preview: its namespace, and whatever has the schema's name. */
  async nothingIsLeft(place: string): Promise<void> {
    assert.equal(await this.operators.find(namespaceKind, place, ""), undefined);
    const parent = await this.operators.see(this.app, "staging");
    if (parent !== undefined) {
      await this.operators.delete(this.app, "staging");
      await this.operators.untilGone(this.app, "staging");
    }
    assert.deepEqual(await leftovers(this.operators.database, this.app), nothing);
    assert.deepEqual(await this.outside(), []);
  }

  /** The buckets and then the realms of the app and of its previews. */
  async outside(): Promise<readonly string[]> {
    const buckets = hasStorage ? await (await sharedS3()).buckets() : [];
    const { ask } = hasLogin ? await sharedKeycloak() : {};
    const realms = (await ask?.<{ realm: string }[]>("GET", "")) ?? [];
    return [
      ...buckets.filter((name) => name.includes(`-${this.app}-`)),
      ...realms
        .map(({ realm }) => realm)
        .filter((name) => name.startsWith(`${this.app}-`))
        .toSorted(),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operators[Symbol.asyncDispose]();
  }
}
