// What was found, in the shape of the committed data: whatever is usual is left out.

import { goTypeOf } from "../../../packages/kube/src/kinds/go-type.ts";
import { shortTypeName } from "../../../packages/kube/src/kinds/type-name.ts";
import type { Column } from "./columns.ts";
import type { DiscoveredKind, GroupVersionKind } from "./discovery.ts";
import type { GoType, InternalField } from "./go-types.ts";
import type { FoundSwitches } from "./switches.ts";

type Record_ = Readonly<Record<string, unknown>>;

const standardVerbs = "create,delete,deletecollection,get,list,patch,update,watch";

/** The switches of most kinds, and of custom resources. `usualSwitches` of the loader says the same. */
const usualSwitches: Record_ = {
  putCreates: false,
  putNeedsVersion: true,
  deleteReturnsObject: false,
  orphansByDefault: false,
  collectable: true,
  graceful: false,
  generatesNames: true,
  firstGeneration: 1,
  generationRises: true,
  keepsStatusOnCreate: false,
  statusWritesMetadata: false,
};

/** How a kind is called in the data. */
export function kindName({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}/${kind}`;
}

export function kindRecord(kind: DiscoveredKind, typeOf: ReadonlyMap<string, string>): Record_ {
  const { group, version, singular, shortNames, categories, namespaced, verbs } = kind;
  const subresources = kind.subresources.map(({ name, verbs, kind: body }) => ({
    name,
    ...body,
    type: typeOf.get(kindName(body)),
    verbs,
  }));
  return {
    group,
    version,
    kind: kind.kind,
    plural: kind.plural,
    ...(singular === kind.kind.toLowerCase() ? {} : { singular }),
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
    ...(namespaced ? {} : { namespaced }),
    ...(verbs.join(",") === standardVerbs ? {} : { verbs }),
    type: typeOf.get(kindName(kind)),
    storageVersionHash: kind.storageVersionHash,
    ...(subresources.length === 0 ? {} : { subresources }),
  };
}

export function columnRecord({ name, type, format, priority }: Column): Record_ {
  return {
    name,
    type,
    ...(format === "" ? {} : { format }),
    ...(priority === 0 ? {} : { priority }),
  };
}

export function switchRecord({ generations, ...flags }: FoundSwitches): Record_ {
  // Where nothing may change, the first generation is all there is to see.
  const [first = 0, second = first * 2] = generations;
  const all = { ...flags, firstGeneration: first, generationRises: second > first };
  const unusual = Object.entries(all).filter(
    ([name, value]) => value !== undefined && value !== usualSwitches[name],
  );
  return Object.fromEntries(unusual);
}

/** A struct is a list of `[name, number, type, mark]`, and the Go types that these do not tell. */
export function structRecords(types: Readonly<Record<string, GoType>>): Map<string, Record_> {
  const records = Object.entries(types).map<readonly [string, Record_]>(([name, type]) => {
    const { fields = [], opaque, element } = type;
    if (element !== undefined) return [shortTypeName(name), { element: shortenTypes(element) }];
    const list = fields.map(({ name, proto, number = 0, type, always, inline }) => {
      const mark = inline === true ? "inline" : always === true ? "always" : undefined;
      const field = [name === "" ? (proto ?? "") : name, number, shortenTypes(type)];
      return mark === undefined ? field : [...field, mark];
    });
    const named = fields
      .filter(({ name, type, go }) => name !== "" && go !== goTypeOf(shortenTypes(type)))
      .map(({ name, go }) => [name, go] as const);
    const record = {
      ...(opaque === true ? { opaque } : {}),
      fields: list,
      ...(named.length === 0 ? {} : { go: Object.fromEntries(named) }),
    };
    return [shortTypeName(name), record];
  });
  return new Map(records);
}

/** A struct of the server itself is a list of `[printed, member, type, mark]`. */
export function internalRecords(
  structs: Readonly<Record<string, readonly InternalField[]>>,
): Map<string, readonly unknown[]> {
  return new Map(
    Object.entries(structs).map(([name, fields]) => [
      name,
      fields.map(({ printed, member, type, omits }) =>
        omits === true ? [printed, member, type, "omits"] : [printed, member, type],
      ),
    ]),
  );
}

function shortenTypes(expression: string): string {
  return expression.replace(/io\.k8s\.[\w.-]+$/, shortTypeName);
}
