// Files of one volume that are in each other's way.

import type { JsonObject } from "@keelson/base";

import { quote } from "../../../../go-text/quote.ts";
import { has, maybeObject, objectOf, objectsOf, textOf } from "../../../../object/members.ts";

interface PlacedFile {
  readonly path: string;
  /** What it comes from; empty if the volume has but one source. */
  readonly source: string;
}

export function* overlapWarnings(volumes: readonly JsonObject[]): Iterable<string> {
  for (const volume of volumes) {
    const name = textOf(volume, "name");
    const said = (kind: string, body: string): string =>
      `volume ${quote(name)} (${kind}): overlapping paths: ${body}`;
    for (const [member, word, nameMember] of keySources) {
      const source = maybeObject(volume, member);
      if (source === undefined) continue;
      const kind = nameMember === "" ? word : `${word} ${quote(textOf(source, nameMember))}`;
      for (const body of overlaps(filesOf(source, ""))) yield said(kind, body);
    }
    const projected = maybeObject(volume, "projected");
    if (projected !== undefined) {
      const sources = objectsOf(projected, "sources");
      for (const source of sources) {
        if (Object.keys(source).length === 0) {
          yield `volume ${quote(name)} (Projected) has no sources provided`;
        }
      }
      for (const body of overlaps(sources.flatMap(projectedFiles))) yield said("Projected", body);
    }
  }
}

const keySources: readonly (readonly [member: string, word: string, nameMember: string])[] = [
  ["configMap", "ConfigMap", "name"],
  ["secret", "Secret", "secretName"],
  ["downwardAPI", "DownwardAPI", ""],
];

function filesOf(source: JsonObject, from: string): readonly PlacedFile[] {
  return objectsOf(source, "items").map((item) => ({ path: textOf(item, "path"), source: from }));
}

/** The files of one of several sources; the first kind that is there counts. */
function projectedFiles(source: JsonObject): readonly PlacedFile[] {
  for (const [member, word] of [
    ["configMap", "ConfigMap"],
    ["secret", "Secret"],
  ] as const) {
    const own = objectOf(source, member);
    if (has(own, "items")) return filesOf(own, `${word} ${quote(textOf(own, "name"))}`);
  }
  const downward = objectOf(source, "downwardAPI");
  if (has(downward, "items")) return filesOf(downward, "DownwardAPI");
  const token = maybeObject(source, "serviceAccountToken");
  return token === undefined
    ? []
    : [{ path: textOf(token, "path"), source: "ServiceAccountToken" }];
}

/** A path that files have, below the nearest other one that it lies in. */
interface Spot {
  readonly parent: Spot | undefined;
  /** The files here, each once; and those here or below in the order in which they came. */
  readonly here: SeenFile[];
  readonly below: SeenFile[];
}

interface SeenFile {
  readonly file: PlacedFile;
  readonly first: number;
  last: number;
}

/** What is said of each pair of files that overlap, each text once. */
function* overlaps(files: readonly PlacedFile[]): Iterable<string> {
  const trimmed = files.map(({ path, source }) => ({ path: withoutLastSlashes(path), source }));
  const spots = spotsOf(trimmed);
  for (const [index, file] of trimmed.entries()) {
    const spot = spots.get(file.path);
    if (spot === undefined) continue;
    const own = spot.here.find(({ file: { source } }) => source === file.source);
    // Of the same file before this one all was said that came before it.
    const others = overlapping(spot).filter(({ first }) => own === undefined || first >= own.last);
    for (const other of others.sort((a, b) => a.first - b.first)) {
      yield `${show(file)} with ${show(other.file)}`;
    }
    if (own !== undefined) own.last = index;
    else addFile(spot, { file, first: index, last: index });
  }
}

function addFile(spot: Spot, seen: SeenFile): void {
  spot.here.push(seen);
  for (let at: Spot | undefined = spot; at !== undefined; at = at.parent) at.below.push(seen);
}

function overlapping({ parent, below }: Spot): SeenFile[] {
  const found = [...below];
  for (let at = parent; at !== undefined; at = at.parent)
    for (const seen of at.here) found.push(seen);
  return found;
}

/** A spot for each path but the empty one. In order, a path is followed by all that lie in it. */
function spotsOf(files: readonly PlacedFile[]): ReadonlyMap<string, Spot> {
  const spots = new Map<string, Spot>();
  const around: { readonly start: string; readonly spot: Spot }[] = [];
  const starts = [...new Set(files.map(({ path }) => `${path}/`))].sort();
  for (const start of starts) {
    if (start === "/") continue;
    while (around.length > 0 && !start.startsWith(around.at(-1)?.start ?? "")) around.pop();
    const spot: Spot = { parent: around.at(-1)?.spot, here: [], below: [] };
    around.push({ start, spot });
    spots.set(start.slice(0, -1), spot);
  }
  return spots;
}

function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function show({ path, source }: PlacedFile): string {
  return source === "" ? quote(path) : `${quote(path)} (${source})`;
}
