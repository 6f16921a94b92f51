// How many requests of each verb were sent to each resource.

import { aligned } from "../tools/aligned.ts";
import type { Recording } from "./run-cases.ts";

const verbs = [
  "POST",
  "GET",
  "list",
  "watch",
  "PUT",
  "PATCH",
  "DELETE",
  "deletecollection",
] as const;
type Verb = (typeof verbs)[number];

/** A table: a row for each resource, a column for each verb. */
export function coverageTable(recording: Recording): string {
  const rows = new Map<string, Map<Verb, number>>();
  for (const observations of recording.values()) {
    for (const { step } of observations) {
      const found = placeOf(step);
      if (found === undefined) continue;
      const row = rows.get(found.resource) ?? new Map<Verb, number>();
      row.set(found.verb, (row.get(found.verb) ?? 0) + 1);
      rows.set(found.resource, row);
    }
  }
  const lines = [...rows]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([resource, counts]) => [
      resource,
      ...verbs.map((verb) => String(counts.get(verb) ?? "·")),
    ]);
  return aligned([["", ...verbs], ...lines]);
}

const place =
  /^(POST|GET|PUT|PATCH|DELETE|watch|until) \/(?:api|apis\/([^/?]+))\/(v\d\w*)\/(?:namespaces\/[^/?]+\/(?=\w))?([a-z]+)(?:\/([^/?]+))?(?:\/([^?/ ]+))?/;

function placeOf(step: string): { readonly resource: string; readonly verb: Verb } | undefined {
  const match = place.exec(step);
  if (match === null) return undefined;
  const [, method = "", group = "", , plural = "", name, subresource] = match;
  const resource = `${plural}${group === "" ? "" : `.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
  if (method === "watch") return { resource, verb: "watch" };
  if (method === "GET" || method === "until")
    return { resource, verb: name === undefined ? "list" : "GET" };
  if (method === "DELETE")
    return { resource, verb: name === undefined ? "deletecollection" : "DELETE" };
  return { resource, verb: method as Verb };
}
