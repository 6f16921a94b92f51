// What a bucket of an app is set to, and whether it is: who may read it, and from which pages browsers may use it.

import { isJsonArray, isJsonObject, jsonEqual, type Json, type JsonObject } from "@keelson/base";
import type { CORSRule, PublicAccessBlockConfiguration } from "@aws-sdk/client-s3";

const methods = ["GET", "PUT", "POST", "DELETE", "HEAD"];

export function corsRules(origins: readonly string[]): CORSRule[] {
  return [
    {
      AllowedOrigins: [...origins],
      AllowedMethods: [...methods],
      AllowedHeaders: ["*"],
      MaxAgeSeconds: 3600,
    },
  ];
}

/** Whether the rules say the same; in what order they name things is the store's business. */
export function isSameCors(found: readonly CORSRule[], wanted: readonly CORSRule[]): boolean {
  return jsonEqual(found.map(comparable), wanted.map(comparable));
}

function comparable(rule: CORSRule): JsonObject {
  const sorted = (values: readonly string[] = []): string[] => values.toSorted();
  return {
    origins: sorted(rule.AllowedOrigins),
    methods: sorted(rule.AllowedMethods),
    headers: sorted(rule.AllowedHeaders),
    exposed: sorted(rule.ExposeHeaders),
    maxAge: rule.MaxAgeSeconds ?? 0,
  };
}

/** What AWS lets nobody undo by a policy or a list of grants. A public bucket is so by its policy alone. */
export function accessBlock({ isPublic }: { readonly isPublic: boolean }) {
  return {
    BlockPublicAcls: true,
    IgnorePublicAcls: true,
    BlockPublicPolicy: !isPublic,
    RestrictPublicBuckets: !isPublic,
  } satisfies PublicAccessBlockConfiguration;
}

export function isSameBlock(
  found: PublicAccessBlockConfiguration,
  wanted: Required<PublicAccessBlockConfiguration>,
): boolean {
  const names = Object.keys(wanted) as (keyof PublicAccessBlockConfiguration)[];
  return names.every((name) => (found[name] ?? false) === wanted[name]);
}

/**
 * The policy that a bucket shall have in place of the one it has, as text; undefined for none. Statements that only
 * forbid are somebody's guard rail and stay; those that allow are ours to say.
 */
export function bucketPolicy(
  found: string | undefined,
  {
    bucket,
    region,
    isPublic,
  }: { readonly bucket: string; readonly region: string; readonly isPublic: boolean },
): string | undefined {
  const kept = statementsOf(found).filter((statement) => statement["Effect"] === "Deny");
  const read: JsonObject = {
    Sid: "PublicRead",
    Effect: "Allow",
    Principal: "*",
    Action: "s3:GetObject",
    Resource: `arn:${partitionOf(region)}:s3:::${bucket}/*`,
  };
  const statements = isPublic ? [...kept, read] : kept;
  if (statements.length === 0) return undefined;
  return JSON.stringify({ Version: "2012-10-17", Statement: statements });
}

/** Whether two policies say the same, however a store writes one value, or everybody, down. */
export function isSamePolicy(found: string | undefined, wanted: string | undefined): boolean {
  if (found === undefined || wanted === undefined) return found === wanted;
  return jsonEqual(statementsOf(found).map(plain), statementsOf(wanted).map(plain));
}

function statementsOf(policy: string | undefined): readonly JsonObject[] {
  const document = parsed(policy);
  const statement = isJsonObject(document) ? document["Statement"] : undefined;
  const all = isJsonArray(statement) ? statement : [statement];
  return all.filter((one) => isJsonObject(one));
}

function parsed(text: string | undefined): Json | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Json);
  } catch {
    return undefined; // Then it is none that we know.
  }
}

function plain(statement: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(statement).map(([name, value]) => [
      name,
      name === "Principal" ? plainPrincipal(value) : single(value),
    ]),
  );
}

function plainPrincipal(value: Json): Json {
  const everybody = isJsonObject(value) ? single(value["AWS"] ?? null) : single(value);
  return everybody === "*" ? "*" : value;
}

function single(value: Json): Json {
  return isJsonArray(value) && value.length === 1 ? (value[0] ?? null) : value;
}

/** AWS is several, with addresses of their own. */
function partitionOf(region: string): string {
  if (region.startsWith("cn-")) return "aws-cn";
  return region.startsWith("us-gov-") ? "aws-us-gov" : "aws";
}
