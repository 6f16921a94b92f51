// Files of one volume that are in each other's way.

import type { JsonObject } from "@keelson/base";

import { quote } from "../../../../go-text/quote.ts";
import { has, maybeObject, objectOf, objectsOf, textOf } from "../../members.ts";

interface PlacedFile {
  readonly path: string;
  /** What it comes from; empty if the volume has but one source. */
  readonly source: string;
}

export function overlapWarnings(volumes: readonly JsonObject[]): readonly string[] {
  return volumes.flatMap((volume) => {
    const name = textOf(volume, "name");
    const said = (kind: string, body: string): string =>
      `volume ${quote(name)} (${kind}): overlapping paths: ${body}`;
    const warnings: string[] = [];
    for (const [member, word, nameMember] of keySources) {
      const source = maybeObject(volume, member);
      if (source === undefined) continue;
      const kind = nameMember === "" ? word : `${word} ${quote(textOf(source, nameMember))}`;
      warnings.push(...overlaps(filesOf(source, "")).map((body) => said(kind, body)));
    }
    const projected = maybeObject(volume, "projected");
    if (projected !== undefined) {
      const sources = objectsOf(projected, "sources");
      for (const source of sources) {
        if (Object.keys(source).length === 0) {
          warnings.push(`volume ${quote(name)} (Projected) has no sources provided`);
        }
      }
      warnings.push(
        ...overlaps(sources.flatMap(projectedFiles)).map((body) => said("Projected", body)),
      );
    }
    return warnings;
  });
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

function overlaps(files: readonly PlacedFile[]): readonly string[] {
  const warnings: string[] = [];
  const before: PlacedFile[] = [];
  for (const { path, source } of files) {
    const file = { path: path.replace(/\/+$/, ""), source };
    for (const other of before) {
      const isOverlapping =
        file.path !== "" &&
        other.path !== "" &&
        (`${other.path}/`.startsWith(`${file.path}/`) ||
          `${file.path}/`.startsWith(`${other.path}/`));
      if (isOverlapping) warnings.push(`${show(file)} with ${show(other)}`);
    }
    before.push(file);
  }
  return warnings;
}

function show({ path, source }: PlacedFile): string {
  return source === "" ? quote(path) : `${quote(path)} (${source})`;
}
