// Definitions that come, quarrel about names and go: on the real server and by our rules.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { settleDefinitions } from "@keelson/kube";

import type { Laboratory } from "../differential.ts";
import { until } from "../../tools/until.ts";

export interface Names {
  readonly plural: string;
  readonly kind: string;
  readonly singular?: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

export type LifeStep =
  | {
      readonly create: Names;
      readonly annotations?: Readonly<Record<string, string>>;
      readonly caBundle?: string;
    }
  | { readonly rename: string; readonly names: Names }
  | { readonly remove: string };

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const now = "2026-01-01T00:00:00Z";

/** Plays a life in a group of its own; the statuses after each step, by plural, as both sides have them. */
export async function play(
  laboratory: Laboratory,
  { group, steps }: { readonly group: string; readonly steps: readonly LifeStep[] },
  signal: AbortSignal,
): Promise<{ readonly oracle: Json[]; readonly ours: Json[] }> {
  let kept: readonly JsonObject[] = [];
  const oracle: Json[] = [];
  const ours: Json[] = [];
  for (const step of steps) {
    if ("create" in step) {
      const body = definitionOf(group, step);
      const created = await laboratory.must({ method: "POST", path: definitions, body }, signal);
      if (!isJsonObject(created)) throw new TypeError("no definition was answered");
      kept = [...kept, created];
    } else if ("rename" in step) {
      const path = `${definitions}/${step.rename}.${group}`;
      const body: Json = {
        spec: { names: { shortNames: null, ...step.names } as unknown as Json },
      };
      const renamed = await laboratory.must({ patch: "merge", path, body }, signal);
      if (!isJsonObject(renamed)) throw new TypeError("no definition was answered");
      kept = kept.map((one) =>
        nameOf(one) === `${step.rename}.${group}`
          ? { ...one, spec: renamed["spec"] ?? {}, metadata: renamed["metadata"] ?? {} }
          : one,
      );
    } else {
      const path = `${definitions}/${step.remove}.${group}`;
      await laboratory.must({ method: "DELETE", path }, signal);
      await until(async () => (await laboratory.send({ path }, signal)).status === 404, signal);
      kept = kept.filter((one) => nameOf(one) !== `${step.remove}.${group}`);
    }
    kept = settleDefinitions(kept, now);
    const expected = statusesOf(kept);
    ours.push(expected);
    const read = async (): Promise<Json> => {
      const list = await laboratory.must({ path: definitions }, signal);
      const items = isJsonObject(list) ? list["items"] : undefined;
      const found = (items !== undefined && isJsonArray(items) ? items : []).filter(isJsonObject);
      return statusesOf(found.filter((one) => nameOf(one).endsWith(`.${group}`)));
    };
    // It takes its time; where it ends differently, the comparison says so.
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(180_000)]);
    await until(
      async () => JSON.stringify(await read()) === JSON.stringify(expected),
      deadline,
    ).catch(() => undefined);
    oracle.push(await read());
  }
  return { oracle, ours };
}

function definitionOf(group: string, step: Extract<LifeStep, { readonly create: Names }>): Json {
  const { create: names, annotations, caBundle } = step;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${names.plural}.${group}`,
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      group,
      scope: "Namespaced",
      names: names as unknown as Json,
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object" } },
        },
      ],
      ...(caBundle === undefined
        ? {}
        : {
            conversion: {
              strategy: "Webhook",
              webhook: {
                clientConfig: { url: "https://localhost", caBundle },
                conversionReviewVersions: ["v1"],
              },
            },
          }),
    },
  };
}

function nameOf({ metadata }: JsonObject): string {
  const name = metadata !== undefined && isJsonObject(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" ? name : "";
}

/** Statuses by name, conditions by type, without times: the real server's loops run in any order. */
function statusesOf(kept: readonly JsonObject[]): Json {
  const sorted = kept.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  return sorted.map((definition) => {
    const status = definition["status"];
    const {
      acceptedNames = null,
      storedVersions = null,
      conditions = [],
    } = status !== undefined && isJsonObject(status) ? status : {};
    const listed = (conditions !== null && isJsonArray(conditions) ? conditions : []).filter(
      isJsonObject,
    );
    const texts = listed.map(({ type = "", status: says = "", reason = "", message = "" }) =>
      [type, says, reason, message].map((part) => JSON.stringify(part)).join(" "),
    );
    return {
      name: nameOf(definition),
      acceptedNames: sortedMembers(acceptedNames),
      storedVersions,
      conditions: texts.toSorted(),
    };
  });
}

function sortedMembers(value: Json): Json {
  if (value === null || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
