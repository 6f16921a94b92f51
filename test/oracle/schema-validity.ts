// Schemas with something wrong in them, judged by the real server and by us.

import { cloneJson, isJsonObject, readJson, seededRandom, writeJson } from "@keelson/base";
import type { Json, JsonObject, MutableJson, MutableJsonObject, Random } from "@keelson/base";
import { causeOf, readSchema, validateSchema } from "@keelson/kube";
import { badRules } from "./cel-cases.ts";
import type { HttpClient } from "../tools/http-client.ts";
import { causesText, customGroup, type SchemaTally } from "./schema-differential.ts";
import { randomSchema } from "./schema-cases.ts";

/** Ways to spoil a schema; some leave it right. */
const spoilers: readonly ((schema: MutableJsonObject, random: Random) => void)[] = [
  (schema) => (schema["type"] = "foo"),
  (schema) => (schema["type"] = "null"),
  (schema) => delete schema["type"],
  (schema) => (schema["type"] = "array"),
  (schema) => (schema["uniqueItems"] = true),
  (schema) => (schema["$ref"] = "#/x"),
  (schema) => (schema["id"] = "x"),
  (schema) => (schema["definitions"] = { x: { type: "string" } }),
  (schema) => (schema["patternProperties"] = { x: { type: "string" } }),
  (schema) => (schema["additionalItems"] = true),
  (schema) => (schema["pattern"] = "("),
  (schema) => (schema["pattern"] = "a**"),
  (schema) => (schema["default"] = "surely wrong"),
  (schema) => (schema["default"] = { zz: 1 }),
  (schema) => (schema["allOf"] = [{ type: "string", nullable: true, description: "x" }]),
  (schema) => (schema["anyOf"] = [{ default: 1 }, { title: "x" }]),
  (schema) => (schema["not"] = { properties: { metadata: {}, q: { minLength: 1 } } }),
  (schema) => (schema["oneOf"] = [{ items: { minLength: 1 } }]),
  (schema) => (schema["allOf"] = [{ additionalProperties: { type: "string" } }]),
  (schema) => (schema["additionalProperties"] = { type: "string" }),
  (schema) => (schema["additionalProperties"] = false),
  (schema) => (schema["x-kubernetes-preserve-unknown-fields"] = false),
  (schema) => (schema["x-kubernetes-embedded-resource"] = true),
  (schema) => (schema["x-kubernetes-int-or-string"] = true),
  (schema) => (schema["x-kubernetes-list-type"] = "set"),
  (schema) => (schema["x-kubernetes-list-type"] = "map"),
  (schema) => (schema["x-kubernetes-list-type"] = "heap"),
  (schema) => (schema["x-kubernetes-list-map-keys"] = ["name", "name"]),
  (schema) => (schema["x-kubernetes-map-type"] = "atomic"),
  (schema) => (schema["x-kubernetes-map-type"] = "fluid"),
  (schema) => {
    schema["type"] = "array";
    schema["items"] = {
      type: "object",
      nullable: true,
      properties: { name: { type: "string", nullable: true } },
    };
    schema["x-kubernetes-list-type"] = "map";
    schema["x-kubernetes-list-map-keys"] = ["name", "other"];
  },
  (schema) => {
    schema["type"] = "array";
    schema["items"] = { type: "object", properties: { a: { type: "string" } } };
    schema["x-kubernetes-list-type"] = "set";
  },
  (schema) => (schema["properties"] = { metadata: { type: "string" }, kind: { type: "integer" } }),
  (schema) => (schema["x-kubernetes-validations"] = [{ rule: " " }]),
  (schema) => (schema["x-kubernetes-validations"] = [{ rule: "true", message: " " }]),
  (schema) => (schema["x-kubernetes-validations"] = [{ rule: "true\n&& true" }]),
  (schema) =>
    (schema["x-kubernetes-validations"] = [{ rule: "true", message: "a\nb", reason: "Nope" }]),
  (schema) =>
    (schema["x-kubernetes-validations"] = [
      { rule: "true", fieldPath: ".zz", messageExpression: " " },
    ]),
];

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All";

export async function runValidityDifferential(
  {
    client,
    seed,
    cases,
  }: { readonly client: HttpClient; readonly seed: string; readonly cases: number },
  signal: AbortSignal,
): Promise<SchemaTally> {
  const tally: SchemaTally = { cases: 0, accepted: 0, refused: 0, skipped: 0, differences: [] };
  const random = seededRandom(`${seed}/validity`);
  const schemas: MutableJsonObject[] = badRules.map(({ schema, rule }) => {
    const written = typeof rule === "string" ? { rule } : rule;
    const field = { ...schema, "x-kubernetes-validations": [written] };
    return { type: "object", properties: { f: cloneJson(field as unknown as Json) } };
  });
  while (schemas.length < cases) {
    const field = cloneJson(randomSchema(random, 2, { extensions: true }) as unknown as Json);
    const root: MutableJsonObject = { type: "object", properties: { f: field } };
    for (let times = random.integer(3); times > 0; times--) {
      random.pick(spoilers)(random.pick(placesIn(root)), random);
    }
    schemas.push(root);
  }
  for (let start = 0; start < schemas.length && tally.differences.length < 25; start += 8) {
    await Promise.all(
      schemas.slice(start, start + 8).map((schema) => compareSchema(client, schema, tally, signal)),
    );
  }
  return tally;
}

/** The schema itself and every schema in it. */
function placesIn(schema: MutableJsonObject): MutableJsonObject[] {
  const places = [schema];
  const add = (part: MutableJson | undefined): void => {
    if (part !== undefined && isJsonObject(part)) places.push(...placesIn(part));
  };
  add(schema["items"]);
  add(schema["additionalProperties"]);
  const properties = schema["properties"];
  if (properties !== undefined && isJsonObject(properties)) Object.values(properties).forEach(add);
  return places;
}

async function compareSchema(
  client: HttpClient,
  schema: MutableJsonObject,
  tally: SchemaTally,
  signal: AbortSignal,
): Promise<void> {
  const body = writeJson({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `judgeds.${customGroup}` },
    spec: {
      group: customGroup,
      scope: "Namespaced",
      names: { plural: "judgeds", kind: "Judged" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  const headers = { "content-type": "application/json" };
  const answer = await client.send({ method: "POST", path: definitions, body, headers }, signal);
  const path = "spec.validation.openAPIV3Schema";
  const read = readSchema(readJson(writeJson(schema)) as JsonObject);
  const errors = validateSchema(read, { path });
  const ours = errors.length === 0 ? "accepted" : nameless(causesText(errors.map(causeOf)));
  let theirs = "accepted";
  if (answer.status !== 201) {
    const { details, message } = readJson(answer.text) as {
      details?: { causes?: JsonObject[] };
      message: string;
    };
    theirs = nameless(causesText(details?.causes ?? [{ message }]));
  }
  tally.cases++;
  if (answer.status === 201) tally.accepted++;
  else tally.refused++;
  if (theirs === ours) return;
  tally.differences.push(`schema ${writeJson(schema)}\n theirs ${theirs}\n ours   ${ours}`);
}

/** The real server makes up a new name for the type of `self` each time. */
function nameless(text: string): string {
  return text.replaceAll(/selfType[0-9]*/g, "selfType");
}
