// All objects of the Ark kinds of one place, as lines.

import { UnknownKind, type Client } from "@keelson/client";

import type { TravellingKind } from "./ark-order.ts";
import { lineOf } from "./object-line.ts";

/** How many of a kind there were. */
export type Counts = ReadonlyMap<string, number>;

/** Writes a line for each object; each kind is one state of its collection. Answers how many there were. */
export async function exportObjects(
  {
    client,
    kinds,
    write,
  }: {
    readonly client: Client;
    readonly kinds: readonly TravellingKind[];
    /** Resolves when there is room for more. */
    readonly write: (line: string) => Promise<void>;
  },
  signal: AbortSignal,
): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const kind of kinds) {
    let count = 0;
    try {
      const objects = await client.resource(kind, signal);
      for await (const { items } of objects.pages({}, signal)) {
        for (const object of items) await write(lineOf(object));
        count += items.length;
      }
    } catch (error) {
      // A cluster that does not have a kind has none of its objects.
      if (!(error instanceof UnknownKind)) throw error;
    }
    counts.set(kind.plural, count);
  }
  return counts;
}
