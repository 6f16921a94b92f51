// A CustomResourceDefinition as the real server judges it: what all its versions have alike stands once, above them.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";

import { at, objects, text } from "../meta/reading.ts";

/** What a version may share with all others. */
export const shared = {
  schema: "validation",
  subresources: "subresources",
  additionalPrinterColumns: "additionalPrinterColumns",
  selectableFields: "selectableFields",
} as const;

type SharedName = keyof typeof shared;

export interface DefinitionForm {
  readonly spec: JsonObject;
  /** The name of the first version. */
  readonly version: string;
  readonly versions: readonly VersionForm[];
  /** The first version of each name. */
  readonly byName: ReadonlyMap<string, VersionForm>;
  /** Whether some versions have subresources that others have not. */
  readonly hasOwnSubresources: boolean;
  /** What all versions have alike. */
  readonly validation?: Json;
  readonly subresources?: Json;
  readonly additionalPrinterColumns?: Json;
  readonly selectableFields?: Json;
}

export interface VersionForm {
  readonly name: string;
  /** As it is written. */
  readonly written: JsonObject;
  /** What only some versions have. */
  readonly schema?: Json;
  readonly subresources?: Json;
  readonly additionalPrinterColumns?: Json;
  readonly selectableFields?: Json;
}

export function definitionForm(spec: JsonObject): DefinitionForm {
  const written = objects(spec, "versions");
  const names = Object.keys(shared) as SharedName[];
  const alike = names.filter((name) =>
    written.every((version) => same(at(version, name), at(written[0], name))),
  );
  const pick = (from: JsonObject | undefined, which: readonly SharedName[]): [string, Json][] =>
    which.flatMap((name) => {
      const value = at(from, name);
      return value === undefined ? [] : [[name, value] as [string, Json]];
    });
  const above = pick(written[0], alike).map(([name, value]) => [shared[name as SharedName], value]);
  const others = names.filter((name) => !alike.includes(name));
  const versions = written.map((version): VersionForm => ({
    name: text(version, "name"),
    written: version,
    ...Object.fromEntries(pick(version, others)),
  }));
  return {
    spec,
    version: text(written[0], "name"),
    versions,
    byName: new Map(versions.toReversed().map((version) => [version.name, version])),
    hasOwnSubresources: versions.some(({ subresources }) => subresources !== undefined),
    ...Object.fromEntries(above),
  };
}

/** The subresources of a version, wherever they stand. */
export function subresourcesOf(form: DefinitionForm, version: VersionForm): Json | undefined {
  if (!form.hasOwnSubresources) return form.subresources;
  return form.byName.get(version.name)?.subresources;
}

function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : jsonEqual(a, b);
}
