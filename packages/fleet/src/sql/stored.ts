// JSON from our own columns.

import { readJson, type MutableJson } from "@keelson/base";

/** As deep as what a cluster says is read, and a few levels more: a drift puts what it quotes into a list. */
const depthMax = 1_032;

export function readStored(text: string): MutableJson {
  return readJson(text, { depthMax });
}
