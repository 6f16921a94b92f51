// The same rules through the real server and through ours.

import { readJson, seededRandom, writeJson } from "@keelson/base";
import type { Json, JsonObject, MutableJsonObject } from "@keelson/base";
import { causeOf, prepareObject, validateObject } from "@keelson/kube";
import type { StructuralSchema, ValidationRule } from "@keelson/kube";
import { celCases, joinedCases } from "./cel-cases.ts";
import type { HttpClient } from "../tools/http-client.ts";
import { causesText, createKind, customGroup, objectOf } from "./schema-differential.ts";
import type { CustomKind, SchemaTally } from "./schema-differential.ts";

/** Each value of each case is created, and changed into each other one where the old value counts. */
export async function runCelDifferential(
  {
    client,
    seed,
    joined,
  }: { readonly client: HttpClient; readonly seed: string; readonly joined: number },
  signal: AbortSignal,
): Promise<SchemaTally> {
  const cases = [...celCases, ...joinedCases(seededRandom(`${seed}/rules`), joined)];
  const tally: SchemaTally = { cases: 0, accepted: 0, refused: 0, skipped: 0, differences: [] };
  const fields: Record<string, StructuralSchema> = {};
  for (const [index, { schema, rule }] of cases.entries()) {
    const written: ValidationRule = typeof rule === "string" ? { rule } : rule;
    fields[`f${index}`] = { ...schema, "x-kubernetes-validations": [written] };
  }
  const kind = await createKind(client, `cel${seed.replaceAll(/[^a-z0-9]/g, "")}`, fields, signal);
  tally.skipped = cases.length - Object.keys(kind.fields).length;
  const skipped = cases.filter((_case, index) => kind.fields[`f${index}`] === undefined);
  for (const { rule } of skipped)
    tally.differences.push(`the real server refused ${writeJson(rule as Json)}`);
  for (const [index, { rule, values }] of cases.entries()) {
    if (kind.fields[`f${index}`] === undefined) continue;
    const usesOld = (typeof rule === "string" ? rule : rule.rule).includes("oldSelf");
    await Promise.all(
      values.map(async (value, number) => {
        const name = `f${index}-${number}`;
        await compareWrite(client, kind, { name, field: `f${index}`, value }, tally, signal);
        if (usesOld)
          await compareChanges(
            client,
            kind,
            { name, field: `f${index}`, value, values },
            tally,
            signal,
          );
      }),
    );
  }
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${kind.plural}.${customGroup}`;
  await client.send({ method: "DELETE", path }, signal);
  return tally;
}

interface Written {
  readonly name: string;
  readonly field: string;
  readonly value: Json;
}

async function compareWrite(
  client: HttpClient,
  kind: CustomKind,
  { name, field, value }: Written,
  tally: SchemaTally,
  signal: AbortSignal,
): Promise<void> {
  const body = writeJson(objectOf(kind, name, { [field]: value as MutableJsonObject }));
  const path = `/apis/${customGroup}/v1/namespaces/default/${kind.plural}?dryRun=All`;
  const headers = { "content-type": "application/json" };
  const answer = await client.send({ method: "POST", path, body, headers }, signal);
  compare(kind, { field, body, status: answer.status, text: answer.text }, tally);
}

/** Stores a value, if it may be, and tries to change it into each of the others. */
async function compareChanges(
  client: HttpClient,
  kind: CustomKind,
  { name, field, value, values }: Written & { readonly values: readonly Json[] },
  tally: SchemaTally,
  signal: AbortSignal,
): Promise<void> {
  const collection = `/apis/${customGroup}/v1/namespaces/default/${kind.plural}`;
  const headers = { "content-type": "application/json" };
  const first = writeJson(objectOf(kind, name, { [field]: value as MutableJsonObject }));
  const made = await client.send(
    { method: "POST", path: collection, body: first, headers },
    signal,
  );
  if (made.status !== 201) return;
  const old = readJson(made.text) as MutableJsonObject;
  for (const next of values) {
    const changed = { ...old, spec: { [field]: next } };
    const body = writeJson(changed);
    const path = `${collection}/${name}?dryRun=All`;
    const answer = await client.send({ method: "PUT", path, body, headers }, signal);
    const status = answer.status === 200 ? 201 : answer.status;
    compare(kind, { field, body, status, text: answer.text, old }, tally);
  }
}

function compare(
  kind: CustomKind,
  {
    field,
    body,
    status,
    text,
    old,
  }: {
    readonly field: string;
    readonly body: string;
    readonly status: number;
    readonly text: string;
    readonly old?: JsonObject;
  },
  tally: SchemaTally,
): void {
  const theirs = status === 201 ? "accepted" : causesOf(text);
  const object = readJson(body) as MutableJsonObject;
  prepareObject(kind.schema, object);
  const { errors: all } = validateObject(kind.schema, object, old === undefined ? {} : { old });
  const ours = all.length === 0 ? "accepted" : causesText(all.map(causeOf));
  tally.cases++;
  if (status === 201) tally.accepted++;
  else tally.refused++;
  if (theirs === ours) return;
  const rule = kind.fields[field]?.["x-kubernetes-validations"];
  tally.differences.push(
    `rule ${writeJson(rule as unknown as Json)}\n old ${writeJson(old?.["spec"] ?? null)}\n value ${writeJson(object["spec"] ?? null)}\n theirs ${theirs}\n ours   ${ours}`,
  );
}

function causesOf(text: string): string {
  const body = readJson(text) as { details?: { causes?: Json[] }; message?: string };
  return body.details?.causes === undefined ? `? ${body.message}` : causesText(body.details.causes);
}
