// Looks into the database past the server, at our objects alone.

import type { Tables } from "../../simulation/history.ts";
import type { Look, Sight } from "../../simulation/world/look.ts";
import { bodyOfText, namespaces } from "./pod-templates.ts";

/** What another look sees, without what the server keeps for itself. */
export function onlyOurs(look: Look, kind: string): Look {
  const isOurs = ({
    key,
  }: {
    readonly key: { readonly kind: string; readonly namespace: string };
  }): boolean => key.kind === kind && namespaces.some((namespace) => namespace === key.namespace);
  // Every look reads the whole log again, and most of it is known.
  const bodies = new Map<string, string>();
  const bodyOf = (text: string): string => {
    const known = bodies.get(text);
    if (known !== undefined) return known;
    const body = bodyOfText(text);
    bodies.set(text, body);
    return body;
  };
  return {
    async sight(): Promise<Sight> {
      const { head, floor, entries } = await look.sight();
      return {
        head,
        floor,
        entries: entries.filter(isOurs).map((entry) => ({
          ...entry,
          body: bodyOf(entry.body),
          ...(entry.previous === undefined
            ? {}
            : { previous: { ...entry.previous, body: bodyOf(entry.previous.body) } }),
        })),
      };
    },
    async tables(): Promise<Tables> {
      const { head, floor, rows } = await look.tables();
      const ours = rows.filter(isOurs).map((row) => ({ ...row, body: bodyOfText(row.body) }));
      return { head, floor, rows: ours, counts: [] };
    },
  };
}
