// The same schema and the same objects through the real server and through our rules.

import { cloneJson, isJsonObject, readJson, seededRandom, writeJson } from "@keelson/base";
import type { Json, JsonObject, MutableJsonObject } from "@keelson/base";
import { causeOf, EmbeddedInvalid, prepareObject, readSchema, validateObject } from "@keelson/kube";
import type { StatusCause, StructuralSchema } from "@keelson/kube";
import type { HttpClient } from "../tools/http-client.ts";
import { randomSchema, randomValue } from "./schema-cases.ts";
import { until } from "../tools/until.ts";

/** How often the real server accepted, refused, and differed from us. */
export interface SchemaTally {
  cases: number;
  accepted: number;
  refused: number;
  /** Schemas that the real server did not take; they say nothing about values. */
  skipped: number;
  readonly differences: string[];
}

/** One line for people. */
export function describeTally(title: string, seed: string, tally: SchemaTally): string {
  const { cases, accepted, refused, differences } = tally;
  return `${title}: seed ${seed}, ${cases} cases, ${accepted} accepted, ${refused} refused, ${differences.length} different`;
}

export interface SchemaRun {
  readonly client: HttpClient;
  readonly seed: string;
  readonly cases: number;
}

export const schemasPerKind = 30;
const valuesPerSchema = 20;
export const differencesMax = 25;

/** Runs generated cases until there are enough of them or too many differences. */
export async function runSchemaDifferential(
  { client, seed, cases }: SchemaRun,
  signal: AbortSignal,
): Promise<SchemaTally> {
  const tally: SchemaTally = { cases: 0, accepted: 0, refused: 0, skipped: 0, differences: [] };
  for (let round = 0; tally.cases < cases && tally.differences.length < differencesMax; round++) {
    const random = seededRandom(`${seed}/schema/${round}`);
    const properties: Record<string, StructuralSchema> = {};
    for (let index = 0; index < schemasPerKind; index++) {
      properties[`f${index}`] = randomSchema(random, 3, { extensions: true });
    }
    const kind = await createKind(
      client,
      `k${seed.replaceAll(/[^a-z0-9]/g, "")}${round}`,
      properties,
      signal,
    );
    tally.skipped += schemasPerKind - Object.keys(kind.fields).length;
    await Promise.all(
      Object.entries(kind.fields).map(async ([field, schema]) => {
        // Of its own: they run at once, and a seed must give the same values again.
        const chance = seededRandom(`${seed}/schema/${round}/${field}`);
        for (let index = 0; index < valuesPerSchema; index++) {
          const value = randomValue(chance, schema);
          const object = objectOf(kind, `${field}-${index}`, { [field]: value });
          await compareCreate(client, kind, object, { tally, seed: `${seed}/${round}` }, signal);
        }
      }),
    );
    await client.send({ method: "DELETE", path: `${definitions}/${kind.plural}.${group}` }, signal);
  }
  return tally;
}

export const customGroup = "differential.example.com";
export const group = customGroup;
export const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

export interface CustomKind {
  readonly plural: string;
  readonly kind: string;
  readonly fields: Readonly<Record<string, StructuralSchema>>;
  readonly schema: StructuralSchema;
}

/** Makes a kind of whichever fields the real server takes: it names the others when it refuses. */
export async function createKind(
  client: HttpClient,
  plural: string,
  fields: Readonly<Record<string, StructuralSchema>>,
  signal: AbortSignal,
): Promise<CustomKind> {
  const kept: Record<string, StructuralSchema> = { ...fields };
  for (;;) {
    const { schema, kind, body } = definitionOf(plural, kept);
    const headers = { "content-type": "application/json" };
    const answer = await client.send({ method: "POST", path: definitions, body, headers }, signal);
    if (answer.status === 422) {
      const bad = new Set(
        [...answer.text.matchAll(/properties\[spec\]\.properties\[(f\d+)\]/g)].map(
          ([, name]) => name ?? "",
        ),
      );
      if (bad.size === 0) throw new Error(`the real server refused every schema: ${answer.text}`);
      for (const name of bad) delete kept[name];
      continue;
    }
    if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`);
    await until(async () => {
      const probe = await client.send({ path: `/apis/${group}/v1/${plural}` }, signal);
      return probe.status === 200 ? true : undefined;
    }, signal);
    return {
      plural,
      kind,
      fields: kept,
      schema: readSchema(readJson(writeJson(schema as Json)) as JsonObject),
    };
  }
}

export function definitionOf(
  plural: string,
  fields: Readonly<Record<string, StructuralSchema>>,
): { readonly schema: StructuralSchema; readonly kind: string; readonly body: string } {
  const spec: StructuralSchema = { type: "object", properties: fields };
  const schema: StructuralSchema = { type: "object", properties: { spec } };
  const kind = plural.charAt(0).toUpperCase() + plural.slice(1);
  const version = { name: "v1", served: true, storage: true };
  const body = writeJson({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind },
      versions: [{ ...version, schema: { openAPIV3Schema: schema as Json } }],
    },
  });
  return { schema, kind, body };
}

export function objectOf(
  kind: CustomKind,
  name: string,
  spec: MutableJsonObject,
): MutableJsonObject {
  return {
    apiVersion: `${group}/v1`,
    kind: kind.kind,
    metadata: { name, namespace: "default" },
    spec,
  };
}

export interface Journal {
  readonly tally: SchemaTally;
  readonly seed: string;
}

async function compareCreate(
  client: HttpClient,
  kind: CustomKind,
  object: MutableJsonObject,
  { tally, seed }: Journal,
  signal: AbortSignal,
): Promise<void> {
  const body = writeJson(object);
  const path = `/apis/${group}/v1/namespaces/default/${kind.plural}?dryRun=All&fieldValidation=Warn`;
  const headers = { "content-type": "application/json" };
  const answer = await client.send({ method: "POST", path, body, headers }, signal);
  const theirs = theirOutcome(answer.status, answer.text, answer.warnings);
  const ours = ourOutcome(kind.schema, readJson(body) as MutableJsonObject);
  tally.cases++;
  if (answer.status === 201) tally.accepted++;
  else tally.refused++;
  if (theirs === ours) return;
  const schema = Object.keys((object["spec"] as JsonObject) ?? {}).map((name) => kind.fields[name]);
  tally.differences.push(
    `seed ${seed}\n schema ${writeJson(schema as unknown as Json)}\n value ${writeJson(object["spec"] ?? null)}\n theirs ${theirs}\n ours   ${ours}`,
  );
}

/** One text for an outcome, without what differs from request to request. */
export function theirOutcome(status: number, text: string, warnings: readonly string[]): string {
  const body = readJson(text) as MutableJsonObject;
  if (status === 201) return outcomeText(body["spec"] ?? null, warnings);
  const details = body["details"];
  const causes = isJsonObject(details ?? null) ? (details as JsonObject)["causes"] : undefined;
  if (status !== 422) return `${status} ${writeJson(body["message"] ?? null)}`;
  return `422 ${causesText((causes ?? []) as Json[])}`;
}

export function ourOutcome(
  schema: StructuralSchema,
  object: MutableJsonObject,
  old?: MutableJsonObject,
): string {
  let warnings: string[];
  try {
    warnings = prepareObject(schema, object).map((path) => `unknown field "${path}"`);
  } catch (error) {
    if (!(error instanceof EmbeddedInvalid)) throw error;
    return `400 ${error.error.field}`;
  }
  const { errors } = validateObject(schema, object, old === undefined ? {} : { old });
  if (errors.length === 0) return outcomeText(object["spec"] ?? null, warnings);
  return `422 ${causesText(errors.map(causeOf))}`;
}

/** The order of causes follows Go's maps, which have none; the real server also drops repeated ones. */
export function causesText(causes: readonly (Json | StatusCause)[]): string {
  const texts = causes.map((cause) => {
    const { reason, message, field } = cause as { reason: string; message: string; field: string };
    return `${reason} ${field}: ${message}`;
  });
  return [...new Set(texts)].sort().join("\n        ");
}

function outcomeText(spec: Json, warnings: readonly string[]): string {
  return `${canonical(spec)} ${warnings.join("; ")}`;
}

/** Keys in order; floats as the real server writes them. */
function canonical(value: Json): string {
  return writeJson(sorted(cloneJson(value)));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) {
    return typeof value === "object" && value !== null ? Number(value) : value;
  }
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] ?? null)]),
  );
}
