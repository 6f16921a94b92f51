// Objects with a few fields set to anything: right by type, wrong by most rules.

import { cloneJson, isJsonArray, isJsonObject, setMember } from "@keelson/base";
import type { JsonObject, MutableJson, MutableJsonObject, Random } from "@keelson/base";
import type { BuiltinKind, BuiltinKinds, FieldType, GoField } from "@keelson/kube";

import { given } from "../rules-groups/mutations.ts";

const texts: readonly string[] = [
  ..."a b|Not_Right|a.b|x|..|/a|../a|/a/../b|1.2.3.4|2001:DB8::1|::1|0.0.0.0|10.0.0.0/8|Always|Never|None|In".split(
    "|",
  ),
  ..."Exists|NotIn|Equal|Localhost|RuntimeDefault|TCP|HTTP|linux|windows|Local|Cluster|cpu|memory|storage".split(
    "|",
  ),
  ..."hugepages-2Mi|example.com/gpu|limits.cpu|metadata.name|v1|v|c|NoSchedule|NoExecute|DoNotSchedule".split(
    "|",
  ),
  ..."Delete|Retain|RollingUpdate|OnDelete|Recreate|Indexed|ClientIP|NodePort|ExternalName|LoadBalancer".split(
    "|",
  ),
  ..."0-1|50%|0%|101%|* * * * *|UTC|kubernetes.io/x|BestEffort|Block|Bidirectional|Restart|Pod|Container".split(
    "|",
  ),
  "",
  "<>&",
  "a".repeat(64),
  "a".repeat(254),
];
const keys: readonly string[] = [
  "a",
  "app",
  "a b",
  "a.b/c",
  "cpu",
  "memory",
  "storage",
  "example.com/gpu",
  "hugepages-2Mi",
  "pods",
  "/",
];
const integers: readonly number[] = [0, 1, -1, 2, 80, 65_536, 511, 512, 1000, 2_147_483_647];
const amounts: readonly string[] = ["0", "1", "-1", "1500m", "2Gi", "100m", "3"];

/** A copy of the object with some fields set anew. Metadata is left alone: it is not the kinds' business. */
export function mutate(
  object: JsonObject,
  { kinds, kind, random }: MutationOptions,
): MutableJsonObject {
  return changedSome(object, kind.type, { kinds, random, isRoot: true });
}

/** The same for a part of an object, of a struct's type. */
export function mutatePart(
  part: JsonObject,
  type: string,
  { kinds, random }: Omit<MutationOptions, "kind">,
): MutableJsonObject {
  return changedSome(part, type, { kinds, random, isRoot: false });
}

function changedSome(
  object: JsonObject,
  type: string,
  { kinds, random, isRoot }: Omit<MutationOptions, "kind"> & { readonly isRoot: boolean },
): MutableJsonObject {
  const copy = cloneJson(object);
  const generator = new Generator(kinds, random);
  for (let count = random.pick([1, 1, 2, 3]); count > 0; count--) {
    generator.change(copy, type, { isRoot });
  }
  return copy;
}

export interface MutationOptions {
  readonly kinds: BuiltinKinds;
  readonly kind: BuiltinKind;
  readonly random: Random;
}

class Generator {
  readonly #kinds: BuiltinKinds;
  readonly #random: Random;

  constructor(kinds: BuiltinKinds, random: Random) {
    this.#kinds = kinds;
    this.#random = random;
  }

  change(object: MutableJsonObject, type: string, { isRoot }: { readonly isRoot: boolean }): void {
    const fields = this.#fieldsOf(type).filter(
      ({ name }) =>
        !(isRoot && ["apiVersion", "kind", "metadata", "status"].includes(name)) &&
        !(type === "core.v1.ServiceSpec" && given.includes(name)),
    );
    if (fields.length === 0) return;
    // What is there already is changed more often: the depths of an object are where its rules are.
    const present = fields.filter(({ name }) => Object.hasOwn(object, name));
    const isDeep = present.length > 0 && this.#random.float() < 0.7;
    const field = this.#random.pick(isDeep ? present : fields);
    const found = object[field.name];
    const struct = structIn(field.type);
    if (struct !== undefined && found !== undefined && this.#random.float() < 0.85) {
      const target = isJsonArray(found) && found.length > 0 ? this.#random.pick(found) : found;
      if (isJsonObject(target)) {
        this.change(target, struct, { isRoot: false });
        return;
      }
    }
    if (isRoot && found !== undefined && struct !== undefined) return;
    if (this.#random.float() < 0.1) delete object[field.name];
    else setMember(object, field.name, this.#value(field.type, 2));
  }

  #fieldsOf(type: string): readonly GoField[] {
    const struct = this.#kinds.structOf(type);
    if (struct === undefined || struct.isOpaque || type === "meta.v1.ObjectMeta") return [];
    return struct.fields.flatMap((field) =>
      field.isInline && field.type.form === "struct" ? this.#fieldsOf(field.type.struct) : [field],
    );
  }

  #value(type: FieldType, depth: number): MutableJson {
    const random = this.#random;
    switch (type.form) {
      case "scalar":
        return this.#scalar(type.scalar);
      case "list":
        return Array.from({ length: random.pick([1, 1, 2]) }, () =>
          this.#value(type.item, depth - 1),
        );
      case "map":
        // One key: the real server goes through maps in any order.
        return Object.fromEntries([[random.pick(keys), this.#value(type.value, depth - 1)]]);
      case "struct":
        return this.#struct(type.struct, depth);
    }
  }

  #scalar(scalar: string): MutableJson {
    const random = this.#random;
    switch (scalar) {
      case "bool":
        return random.float() < 0.5;
      case "int32":
      case "int64":
        return random.pick(integers);
      case "bytes":
        return random.pick(["", "eA==", "e30="]);
      case "any":
        return { a: 1 };
      default:
        return random.pick(texts);
    }
  }

  #struct(type: string, depth: number): MutableJson {
    const random = this.#random;
    if (type.endsWith(".Quantity")) return random.pick(amounts);
    if (type.endsWith(".IntOrString"))
      return random.pick([0, 1, -1, 80, "50%", "http", "x y", "101%"]);
    if (type.endsWith(".MicroTime")) return "2026-01-01T00:00:00.000000Z";
    if (type.endsWith(".Time")) return "2026-01-01T00:00:00Z";
    const object: MutableJsonObject = {};
    if (depth <= 0) return object;
    for (const field of this.#fieldsOf(type)) {
      if (random.float() < 0.25) setMember(object, field.name, this.#value(field.type, depth - 1));
    }
    return object;
  }
}

function structIn(type: FieldType): string | undefined {
  if (type.form === "struct") return type.struct;
  return type.form === "list" ? structIn(type.item) : undefined;
}
