// ComponentStatus: what a server is made of, and whether it works. Nothing of it is stored.

import type { JsonObject } from "@keelson/base";
import {
  failures,
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
  partialMetadata,
  partialMetadataList,
} from "@keelson/kube";

import { contentTypeOf, writeValue } from "../encoding/write-value.ts";
import { tableOf } from "../encoding/write-table.ts";
import type { Answer } from "../http/answer.ts";
import type { ResourceExchange } from "../http/exchange.ts";
import { listOptions } from "../reads/list-options.ts";
import { formatFor, type Verb, type Verbs } from "./verb.ts";

/** The name by which clients know where objects are kept. */
const storeName = "etcd-0";

/** Answers the status of the one component that is not this process itself: the database. */
export const componentStatuses: { readonly get: Verb; readonly list: Verb } = {
  get: async (verbs, exchange) => {
    const { name } = exchange.info;
    if (name !== storeName) {
      throw failures.notFound({ group: "", resource: "componentstatus" }, name);
    }
    return answer(verbs, exchange, [await storeStatus(verbs, exchange.signal)], { isList: false });
  },
  list: async (verbs, exchange) => {
    const { resource, query, signal } = exchange;
    listOptions(resource, query, { isWatch: false, name: "" });
    const labels = parseLabelSelector(query.get("labelSelector") ?? "");
    const fields = parseFieldSelector(query.get("fieldSelector") ?? "");
    const isWanted =
      matchesLabels(labels, {}) &&
      matchesFields(fields, (field) => (field === "metadata.name" ? storeName : ""));
    const items = isWanted ? [await storeStatus(verbs, signal)] : [];
    return answer(verbs, exchange, items, { isList: true });
  },
};

async function storeStatus({ store }: Verbs, signal: AbortSignal): Promise<JsonObject> {
  const condition = await store.ping(signal).then(
    () => ({ type: "Healthy", status: "True", message: "ok" }),
    () => ({ type: "Healthy", status: "False", message: "the database does not answer" }),
  );
  return {
    kind: "ComponentStatus",
    apiVersion: "v1",
    metadata: { name: storeName },
    conditions: [condition],
  };
}

function answer(
  { codec, clock }: Verbs,
  exchange: ResourceExchange,
  objects: readonly JsonObject[],
  { isList }: { readonly isList: boolean },
): Answer {
  const format = formatFor(exchange);
  const contentType = contentTypeOf(format.mediaType);
  const { resource } = exchange;
  const whole = isList ? listOf(objects) : (objects[0] ?? {});
  const value =
    format.shape === "table"
      ? tableOf(resource, { objects, metadata: {} }, format, clock.now())
      : format.shape === "object"
        ? whole
        : isList
          ? partialMetadataList(whole)
          : partialMetadata(whole);
  return { code: 200, contentType, body: writeValue(value, format, codec) };
}

function listOf(objects: readonly JsonObject[]): JsonObject {
  const items = objects.map(({ metadata = {}, conditions = [] }) => ({ metadata, conditions }));
  return { kind: "ComponentStatusList", apiVersion: "v1", metadata: {}, items };
}
