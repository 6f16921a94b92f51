// Objects that were right once, changed under a stricter schema, by the real server and by our rules.

import { cloneJson, isJsonObject, readJson, seededRandom, writeJson } from "@keelson/base";
import type { Json, JsonObject, MutableJson, MutableJsonObject, Random } from "@keelson/base";
import { prepareObject, readSchema, type StructuralSchema } from "@keelson/kube";
import type { HttpClient } from "../tools/http-client.ts";
import { randomSchema, randomValue } from "./schema-cases.ts";
import {
  createKind,
  customGroup as group,
  definitionOf,
  definitions,
  differencesMax,
  objectOf,
  ourOutcome,
  schemasPerKind,
  theirOutcome,
  type CustomKind,
  type Journal,
  type SchemaRun,
  type SchemaTally,
} from "./schema-differential.ts";
import { until } from "../tools/until.ts";

/** Replaces the schemas of a kind and waits until a value shows that they are in force. */
async function tightenKind(
  client: HttpClient,
  kind: CustomKind,
  fields: Readonly<Record<string, StructuralSchema>>,
  signal: AbortSignal,
): Promise<CustomKind> {
  const { schema } = definitionOf(kind.plural, fields);
  const path = `${definitions}/${kind.plural}.${group}`;
  const headers = { "content-type": "application/json-patch+json" };
  const value = schema as Json;
  const body = writeJson([
    { op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value },
  ]);
  const answer = await client.send({ method: "PATCH", path, body, headers }, signal);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  const probe = objectOf(kind, "probe", { [canary]: "x" });
  const probePath = `/apis/${group}/v1/namespaces/default/${kind.plural}?dryRun=All`;
  await until(async () => {
    const tried = await client.send({ method: "POST", path: probePath, body: probe }, signal);
    return tried.status === 422;
  }, signal);
  return { ...kind, fields, schema: readSchema(readJson(writeJson(value)) as JsonObject) };
}

/** A field that is wrong as soon as the strict schema is in force. */
const canary = "canary";

/** What a schema declares, without what it asks of values. */
function loosen(schema: StructuralSchema): StructuralSchema {
  const loose: { -readonly [K in keyof StructuralSchema]: StructuralSchema[K] } = {};
  if (schema.type !== undefined) loose.type = schema.type;
  if (schema.nullable !== undefined) loose.nullable = schema.nullable;
  for (const key of extensions) {
    if (schema[key] !== undefined) Object.assign(loose, { [key]: schema[key] });
  }
  if (schema.items !== undefined) loose.items = loosenItems(schema, schema.items);
  if (schema.properties !== undefined) {
    loose.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, part]) => [name, loosen(part)]),
    );
  }
  if (schema.additionalProperties !== undefined) {
    const { additionalProperties: part } = schema;
    loose.additionalProperties = typeof part === "object" ? loosen(part) : part;
  }
  return loose;
}

const extensions = [
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
] as const;

/** The keys of a list-map stay required, or have their default. */
function loosenItems(list: StructuralSchema, items: StructuralSchema): StructuralSchema {
  const loose = loosen(items);
  if (list["x-kubernetes-list-type"] !== "map") return loose;
  const keys = list["x-kubernetes-list-map-keys"] ?? [];
  return { ...loose, required: keys };
}

/** Objects that were right once are changed under a stricter schema: what did not change is let through. */
export async function runUpdateDifferential(
  { client, seed, cases }: SchemaRun,
  signal: AbortSignal,
): Promise<SchemaTally> {
  const tally: SchemaTally = { cases: 0, accepted: 0, refused: 0, skipped: 0, differences: [] };
  for (let round = 0; tally.cases < cases && tally.differences.length < differencesMax; round++) {
    const random = seededRandom(`${seed}/update/${round}`);
    const strict: Record<string, StructuralSchema> = { [canary]: { type: "string", maxLength: 0 } };
    for (let index = 0; index < schemasPerKind; index++) {
      strict[`f${index}`] = randomSchema(random, 3, { extensions: true });
    }
    const loose = Object.fromEntries(
      Object.entries(strict).map(([name, schema]) => [name, loosen(schema)]),
    );
    const plural = `u${seed.replaceAll(/[^a-z0-9]/g, "")}${round}`;
    const early = await createKind(client, plural, loose, signal);
    const stored: MutableJsonObject[] = [];
    for (const [field, schema] of Object.entries(strict)) {
      for (let index = 0; index < 8; index++) {
        const spec = { [field]: randomValue(random, schema) };
        const body = writeJson(objectOf(early, `${field}-${index}`, spec));
        const path = `/apis/${group}/v1/namespaces/default/${plural}`;
        const headers = { "content-type": "application/json" };
        const made = await client.send({ method: "POST", path, body, headers }, signal);
        if (made.status === 201) stored.push(readJson(made.text) as MutableJsonObject);
      }
    }
    const kind = await tightenKind(client, early, strict, signal);
    await Promise.all(
      stored.map(async (old, place) => {
        // Of its own: they run at once, and a seed must give the same changes again.
        const chance = seededRandom(`${seed}/update/${round}/${place}`);
        for (let index = 0; index < 4; index++) {
          const changed = changeSomething(chance, old, kind);
          await compareUpdate(
            client,
            kind,
            { old, changed },
            { tally, seed: `${seed}/${round}` },
            signal,
          );
        }
      }),
    );
    await client.send({ method: "DELETE", path: `${definitions}/${kind.plural}.${group}` }, signal);
  }
  return tally;
}

/** A copy with another field beside, or another value in the same place, or only another label. */
function changeSomething(random: Random, old: JsonObject, kind: CustomKind): MutableJsonObject {
  const changed = cloneJson(old);
  const spec = (changed["spec"] ?? {}) as MutableJsonObject;
  changed["spec"] = spec;
  const fields = Object.keys(spec);
  const field = fields.length === 0 ? "f0" : random.pick(fields);
  const schema = kind.fields[field];
  if (schema === undefined) return changed;
  switch (random.integer(4)) {
    case 0:
      (changed["metadata"] as MutableJsonObject)["labels"] = { a: "b" };
      break;
    case 1:
      spec[field] = randomValue(random, schema);
      break;
    case 2:
      spec[field] = mixed(random, spec[field] ?? null, randomValue(random, schema)) as MutableJson;
      break;
    default:
      spec["f1"] = randomValue(random, kind.fields["f1"] ?? {});
  }
  return changed;
}

/** Some parts of one value, some of the other. */
function mixed(random: Random, a: Json, b: Json): Json {
  if (isJsonObject(a) && isJsonObject(b)) {
    const both: MutableJsonObject = {};
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      const left = Object.hasOwn(a, key) ? a[key] : undefined;
      const right = Object.hasOwn(b, key) ? b[key] : undefined;
      const part =
        left === undefined ? right : right === undefined ? left : mixed(random, left, right);
      if (part !== undefined) both[key] = part as MutableJson;
    }
    return both;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    return [...(a as Json[]), ...(b as Json[]).slice(0, 1)];
  }
  return random.integer(3) === 0 ? b : a;
}

async function compareUpdate(
  client: HttpClient,
  kind: CustomKind,
  { old, changed }: { readonly old: MutableJsonObject; readonly changed: MutableJsonObject },
  { tally, seed }: Journal,
  signal: AbortSignal,
): Promise<void> {
  const body = writeJson(changed);
  const { name } = old["metadata"] as { name: string };
  const path = `/apis/${group}/v1/namespaces/default/${kind.plural}/${name}?dryRun=All`;
  const headers = { "content-type": "application/json" };
  const answer = await client.send({ method: "PUT", path, body, headers }, signal);
  const theirs = theirOutcome(
    answer.status === 200 ? 201 : answer.status,
    answer.text,
    answer.warnings,
  );
  const before = cloneJson(old);
  prepareObject(kind.schema, before);
  const ours = ourOutcome(kind.schema, readJson(body) as MutableJsonObject, before);
  tally.cases++;
  if (answer.status === 200) tally.accepted++;
  else tally.refused++;
  if (theirs === ours) return;
  const schema = Object.keys(changed["spec"] as JsonObject).map((field) => kind.fields[field]);
  tally.differences.push(
    `seed ${seed}\n schema ${writeJson(schema as unknown as Json)}\n old ${writeJson(old["spec"] ?? null)}\n new ${writeJson(changed["spec"] ?? null)}\n theirs ${theirs}\n ours   ${ours}`,
  );
}
