// A CustomResourceDefinition as the real server judges it: what all its versions have alike stands once, above them.

import type { Json, JsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import { has, objectOf, objectsOf, textOf } from "../../../object/members.ts";
import { isSame } from "../meta/checks.ts";

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
  readonly validation?: JsonObject;
  readonly subresources?: JsonObject;
  readonly additionalPrinterColumns?: readonly JsonObject[];
  readonly selectableFields?: readonly JsonObject[];
}

export interface VersionForm {
  readonly name: string;
  /** As it is written. */
  readonly written: JsonObject;
  /** What only some versions have. */
  readonly schema?: JsonObject;
  readonly subresources?: JsonObject;
  readonly additionalPrinterColumns?: readonly JsonObject[];
  readonly selectableFields?: readonly JsonObject[];
}

export function definitionForm(spec: JsonObject): DefinitionForm {
  const written = objectsOf(spec, "versions");
  const [first = {}] = written;
  const names = Object.keys(shared) as SharedName[];
  const alike = names.filter((name) =>
    written.every((version) => isSame(memberOf(version, name), memberOf(first, name))),
  );
  const pick = (from: JsonObject, which: readonly SharedName[]): readonly [SharedName, Json][] =>
    which.flatMap((name) => {
      const value = isList(name) ? objectsOf(from, name) : objectOf(from, name);
      return has(from, name) ? [[name, value] as [SharedName, Json]] : [];
    });
  const above = pick(first, alike).map(([name, value]) => [shared[name], value]);
  const others = names.filter((name) => !alike.includes(name));
  const versions = written.map((version): VersionForm => ({
    name: textOf(version, "name"),
    written: version,
    ...Object.fromEntries(pick(version, others)),
  }));
  return {
    spec,
    version: textOf(first, "name"),
    versions,
    byName: new Map(versions.toReversed().map((version) => [version.name, version])),
    hasOwnSubresources: versions.some(({ subresources }) => subresources !== undefined),
    ...Object.fromEntries(above),
  };
}

/** The subresources of a version, wherever they stand. */
export function subresourcesOf(form: DefinitionForm, version: VersionForm): JsonObject | undefined {
  if (!form.hasOwnSubresources) return form.subresources;
  return form.byName.get(version.name)?.subresources;
}

function isList(name: SharedName): boolean {
  return name === "additionalPrinterColumns" || name === "selectableFields";
}
