// What has become of a resource, or would, in the words of commands.

import type { Colour, Paint } from "../output/paint.ts";

/** As the API calls it. */
export type Outcome = "created" | "updated" | "unchanged" | "deleted" | "forgotten";

/** What people know from kubectl. */
const words: Readonly<Record<Outcome, string>> = {
  created: "created",
  updated: "configured",
  unchanged: "unchanged",
  deleted: "deleted",
  forgotten: "forgotten, its object stays",
};

const colours: Readonly<Record<Outcome, Colour>> = {
  created: "green",
  updated: "yellow",
  unchanged: "dim",
  deleted: "red",
  forgotten: "yellow",
};

export function outcomeText(paint: Paint, outcome: Outcome): string {
  return paint(colours[outcome], words[outcome]);
}
