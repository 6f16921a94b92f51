// The defaults of a kind: what the data says of each place in it, and the rules that look further.

import { cloneJson, isJsonObject } from "@keelson/base";
import type { Json, MutableJson, MutableJsonObject } from "@keelson/base";

import type { BuiltinKinds } from "../../kinds/builtin-kinds.ts";
import type { GoStruct } from "../../kinds/go-struct.ts";
import type { DefaultsContext } from "../typed-kind.ts";
import { compileWalk, flatFields } from "../struct-walk.ts";
import type { NamedType, Place, StructRule } from "../struct-walk.ts";
import { defaultRules } from "./default-rules.ts";
import { roundUp } from "./resource-lists.ts";

type Rule = StructRule<DefaultsContext>;

/** What the server adds to an object of a kind where nothing is said. */
export function kindDefaults(kinds: BuiltinKinds, kind: NamedType): Rule {
  const structOf = (type: string): GoStruct => kinds.requireStruct(type);
  const hasLists = listGroups.has(kind.group);
  const ruleAt = (place: Place, struct: GoStruct): Rule | undefined => {
    const key = `${kind.group}/${kind.version}/${kind.kind}${place.path}`;
    const own = defaultRules.get(key) ?? defaultRules.get(place.type);
    const { added = {} } = kinds.defaultsOf(kind, place.path, place.type) ?? {};
    const fields = flatFields(struct, structOf);
    const additions = Object.entries(added)
      .filter(([name]) => own?.owns.includes(name) !== true)
      .map(([name, value]) => {
        const field = fields.find((one) => one.name === name);
        // A pointer that is null though it need not be printed is one to a time that is zero.
        const isNullSet = field?.isPointer === true && !field.isAlwaysPrinted;
        return { name, value, isPointer: field?.isPointer ?? false, isNullSet };
      });
    const lists = hasLists ? fields.filter(({ goType }) => isResourceList(goType)) : [];
    const names = lists.map(({ name }) => name);
    return inOrder([own?.apply, adding(additions), rounding(names)]);
  };
  return compileWalk<DefaultsContext>(kind.type, { structOf, ruleAt }) ?? (() => undefined);
}

/** Groups whose lists of resources are rounded. */
const listGroups = new Set(["", "apps", "batch", "storage.k8s.io"]);

function isResourceList(goType: string): boolean {
  return goType.startsWith("v1.ResourceList=");
}

function inOrder(rules: readonly (Rule | undefined)[]): Rule | undefined {
  const [first, second, ...rest] = rules.filter((rule) => rule !== undefined);
  if (first === undefined || second === undefined) return first;
  return (struct, context) => {
    first(struct, context);
    second(struct, context);
    for (const rule of rest) rule(struct, context);
  };
}

interface Addition {
  readonly name: string;
  readonly value: Json;
  /** Only nothing is replaced, not zero. */
  readonly isPointer: boolean;
  /** Null is a value there. */
  readonly isNullSet: boolean;
}

function adding(additions: readonly Addition[]): Rule | undefined {
  if (additions.length === 0) return undefined;
  return (struct, { now }) => {
    for (const { name, value, isPointer, isNullSet } of additions) {
      const present = struct[name];
      const isMissing = present === undefined || (present === null && !isNullSet);
      if (isMissing || (!isPointer && isZero(present))) struct[name] = fresh(value, now);
    }
  };
}

function fresh(value: Json, now: string): MutableJson {
  if (value === "$now") return now;
  return typeof value === "object" ? cloneJson(value) : value;
}

function isZero(value: MutableJson): boolean {
  return value === "" || value === 0 || value === false;
}

function rounding(names: readonly string[]): Rule | undefined {
  if (names.length === 0) return undefined;
  return (struct: MutableJsonObject) => {
    for (const name of names) {
      const list = struct[name];
      if (isJsonObject(list)) roundUp(list);
    }
  };
}
