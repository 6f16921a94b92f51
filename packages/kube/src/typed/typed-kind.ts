// What an API server in Go does to a body of a built-in kind before it looks whether it is valid.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import type { BuiltinKinds, KindName } from "../kinds/builtin-kinds.ts";
import { apiVersionOf } from "../object/api-version.ts";
import { DecodeState, type DuplicateKeys } from "./decode-state.ts";
import { kindDefaults } from "./defaults/kind-defaults.ts";
import { AutoscalerConversion } from "./convert/autoscaler.ts";
import type { NamedType, StructRule } from "./struct-walk.ts";
import { hubForm } from "./hub-form.ts";
import { storedForm } from "./stored-form.ts";
import { StructDecoders, type TypeCodec } from "./struct-decoder.ts";

/** A body as its kind holds it. */
export interface DecodedObject {
  /** As the server prints it; it shares nothing with the body. */
  readonly object: MutableJsonObject;
  /** Fields the kind does not have, each with its path, in the order of the body; at most 100. */
  readonly unknown: readonly string[];
  /** What strict decoding refuses, each as its message says it: unknown and duplicate fields, at most 100. */
  readonly problems: readonly string[];
}

export interface DefaultsContext {
  /** The time of the request, as a `Time`. */
  readonly now: string;
}

/** A built-in kind, made ready for its bodies. */
export interface TypedKind {
  /**
   * From JSON to the Go struct and back: what is unknown is dropped and reported, null is nothing, what is zero
   * vanishes or appears as its field prescribes, and quantities and times are canonical. Throws a
   * `TypedDecodeError` if a value does not fit its field. What the text says twice has been read as if only the
   * last had been said; who passes the report of `readJsonReport` has it named.
   */
  decode(value: JsonObject, said?: DuplicateKeys): DecodedObject;
  /**
   * Adds, in place, what the server adds where nothing is said, and does what its own form of the kind does to
   * it. Doing it twice changes nothing. Throws a `TypedDecodeError` for the few values that have no such form.
   */
  applyDefaults(object: MutableJsonObject, context: DefaultsContext): void;
  /**
   * Does, in place, what storing does to an object: a list that is printed even if empty is null, because protobuf
   * cannot tell. Objects are answered and watched in this form, also where nothing is stored.
   */
  toStored(object: MutableJsonObject): void;
  /** The object as it is printed if nothing is said: a fresh one each time. */
  empty(): MutableJsonObject;
}

/**
 * Makes a kind ready: some milliseconds for a large one, so keep the result. The kinds of subresources (`Scale`,
 * `Eviction`, `TokenRequest`) and `DeleteOptions` count as kinds too. Throws a `RangeError` for any other.
 */
export function typedKind(kinds: BuiltinKinds, name: KindName): TypedKind {
  const kind = find(kinds, name);
  const decoders = new StructDecoders((type) => kinds.requireStruct(type));
  const root = decoders.named(kind.type);
  const defaults = kindDefaults(kinds, kind);
  const conversions =
    kind.type === "autoscaling.v1.HorizontalPodAutoscaler"
      ? firstAutoscalers(kinds)
      : hubForm(kind, (type) => kinds.requireStruct(type));
  const readAgain = (object: MutableJsonObject): void =>
    replaceMembers(object, root.decode(object, new DecodeState()) as MutableJsonObject);
  const stored = jsonGroups.has(kind.group)
    ? readAgain
    : storedForm(kind, (type) => kinds.requireStruct(type));
  return {
    decode: decoderOf(root, kind),
    applyDefaults: (object, context) => {
      defaults(object, context);
      conversions?.(object, context);
    },
    toStored: (object) => stored?.(object),
    empty: () => root.zero() as MutableJsonObject,
  };
}

/** Reads bodies of a kind that is never stored, as `TypedKind.decode` does: of `TokenRequest`, `Eviction`, `Scale`. */
export function typedBody(kinds: BuiltinKinds, name: KindName): Pick<TypedKind, "decode"> {
  const type = kinds.typeOf(name);
  if (type === undefined) throw new RangeError(`${name.group}/${name.version} has no ${name.kind}`);
  const root = new StructDecoders((inner) => kinds.requireStruct(inner)).named(type);
  return { decode: decoderOf(root, name) };
}

function decoderOf(root: TypeCodec, name: KindName): TypedKind["decode"] {
  const apiVersion = apiVersionOf(name);
  return (value, said) => {
    const state = new DecodeState(said);
    const object = root.decode(value, state) as MutableJsonObject;
    state.throwFirst();
    if (state.late !== undefined) throw state.late;
    // What the URL says counts, and the server has compared.
    object["kind"] = name.kind;
    object["apiVersion"] = apiVersion;
    return { object, unknown: state.unknown, problems: state.problems };
  };
}

/** The object of a kind as Go prints it when nothing is said: what apply starts from. */
export function emptyOf(kinds: BuiltinKinds, name: KindName): MutableJsonObject {
  const { type } = find(kinds, name);
  const decoders = new StructDecoders((type) => kinds.requireStruct(type));
  return decoders.named(type).zero() as MutableJsonObject;
}

function find(kinds: BuiltinKinds, name: KindName): NamedType {
  const { group, version, kind } = name;
  const found =
    kinds.find(name) ??
    kinds.all
      .flatMap(({ subresources }) => subresources)
      .find((one) => one.group === group && one.version === version && one.kind === kind);
  if (found?.type !== undefined) return { group, version, kind, type: found.type };
  // Options have a version of their own in every group.
  const options = `meta.v1.${kind}`;
  if (kind.endsWith("Options") && kinds.structOf(options) !== undefined) {
    return { group, version, kind, type: options };
  }
  throw new RangeError(`${name.group}/${name.version} has no built-in kind ${name.kind}`);
}

/** Autoscalers of the first version are kept in the second. */
function firstAutoscalers(kinds: BuiltinKinds): StructRule<DefaultsContext> {
  const conversion = new AutoscalerConversion(kinds);
  const second = typedKind(kinds, {
    group: "autoscaling",
    version: "v2",
    kind: "HorizontalPodAutoscaler",
  });
  return (object, context) => {
    const stored = conversion.toV2(object);
    second.applyDefaults(stored, context);
    replaceMembers(object, conversion.toV1(stored));
  };
}

/** Their objects are stored as JSON, all others in protobuf. */
const jsonGroups = new Set(["apiextensions.k8s.io", "apiregistration.k8s.io"]);

function replaceMembers(object: MutableJsonObject, other: MutableJsonObject): void {
  for (const name of Object.keys(object)) delete object[name];
  Object.assign(object, other);
}
