// Where values come from: parameters, headers, and whatever else may be said or be looked up.

import { isJsonObject, type JsonObject } from "@keelson/base";
import type { FieldPlace } from "@keelson/kube";
import type { Static } from "typebox";

import type { header, override, parameter, value } from "../schema-parts.ts";
import type { Asking } from "./ark-rules.ts";

type Value = Static<typeof value>;
type Header = Static<typeof header>;
/** A value, or where it comes from. An empty value is none. */
export type Sourced = Value | Header["value"];
type KeyReference = NonNullable<NonNullable<Value["valueFrom"]>["secretKeyRef"]>;

/** A source, and where it stands. */
export interface PlacedSource {
  readonly source: Sourced;
  readonly at: FieldPlace;
}

export function parametersAt(
  parameters: readonly Static<typeof parameter>[] | undefined,
  at: FieldPlace,
): PlacedSource[] {
  return (parameters ?? []).map((source, index) => ({ source, at: at.item(index) }));
}

export function headersAt(headers: readonly Header[] | undefined, at: FieldPlace): PlacedSource[] {
  return (headers ?? []).map(({ value }, index) => ({
    source: value,
    at: at.item(index).child("value"),
  }));
}

export function overridesAt(
  overrides: readonly Static<typeof override>[] | undefined,
  at: FieldPlace,
): PlacedSource[] {
  return (overrides ?? []).flatMap(({ headers }, index) =>
    headersAt(headers, at.item(index).child("headers")),
  );
}

const kindsOfSource = [
  "secretKeyRef",
  "configMapKeyRef",
  "serviceRef",
  "queryParameterRef",
] as const;

/** Asks of each that it has one source and no second. */
export function checkOneSource(placed: readonly PlacedSource[]): void {
  for (const { source, at } of placed) {
    const { value = "", valueFrom } = source;
    if (valueFrom === undefined) {
      if (value === "") at.required("value or valueFrom must be given");
      continue;
    }
    const from = at.child("valueFrom");
    if (value !== "") {
      from.forbidden("may not be given beside value");
      continue;
    }
    const given = kindsOfSource.filter((kind) => Object.hasOwn(valueFrom, kind));
    const [first, ...others] = given;
    if (first === undefined) from.required("one source must be given");
    for (const other of others) from.child(other).forbidden(`may not be given beside ${first}`);
  }
}

/** Asks that the keys of Secrets and ConfigMaps which the sources name are there. */
export async function checkKeys(placed: readonly PlacedSource[], asking: Asking): Promise<void> {
  for (const { source, at } of placed) {
    const from = at.child("valueFrom");
    const { secretKeyRef, configMapKeyRef } = source.valueFrom ?? {};
    if (secretKeyRef !== undefined) {
      await valueOfKey("Secret", secretKeyRef, from.child("secretKeyRef"), asking);
    }
    if (configMapKeyRef !== undefined) {
      await valueOfKey("ConfigMap", configMapKeyRef, from.child("configMapKeyRef"), asking);
    }
  }
}

/** The value of a key; undefined where it is absent, which is said at `at` unless it may be. */
export async function valueOfKey(
  kind: "Secret" | "ConfigMap",
  { name = "", key, optional = false }: KeyReference,
  at: FieldPlace,
  { namespace, lookup, signal }: Asking,
): Promise<string | undefined> {
  if (name === "") {
    if (!optional) at.child("name").required(`a ${kind} must be named`);
    return undefined;
  }
  const place = { namespace, name };
  const holder = await (kind === "Secret"
    ? lookup.secret(place, signal)
    : lookup.configMap(place, signal));
  const found = holder === undefined ? undefined : textAt(holder, key);
  if (found === undefined && !optional) {
    if (holder === undefined) {
      at.child("name").notFound(name, `there is no ${kind} of this name in namespace ${namespace}`);
    } else {
      at.child("key").notFound(key, `the ${kind} ${name} has no such key`);
    }
  }
  if (found === undefined || kind === "ConfigMap") return found;
  return Buffer.from(found, "base64").toString("utf8");
}

function textAt({ data }: JsonObject, key: string): string | undefined {
  const text = isJsonObject(data) ? data[key] : undefined;
  return typeof text === "string" ? text : undefined;
}
