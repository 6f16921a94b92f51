// A token for a ServiceAccount, by creating `serviceaccounts/token` (KB 64).

import { isJsonObject, type Clock, type JsonObject, type Random } from "@keelson/base";
import { failures, memberOf, quote, timeFromMs, type FieldError } from "@keelson/kube";

import { uidOf } from "../../object-metadata.ts";
import type { BoundKind, BoundObjects } from "../bound-objects.ts";
import { objectAt, textAt, textsAt } from "../../fields.ts";
import { serviceAccountUser } from "../service-account-name.ts";
import { claimName, type ServiceAccountTokens } from "../service-account-tokens.ts";

export interface TokenRequest {
  /** The ServiceAccount of the path. */
  readonly namespace: string;
  readonly name: string;
  /** The TokenRequest, read and defaulted. */
  readonly object: JsonObject;
}

export interface TokenRequestDependencies {
  readonly tokens: ServiceAccountTokens;
  readonly objects: BoundObjects;
  readonly clock: Clock;
  readonly random: Random;
  /** The longest life of a token; longer wishes are cut, with a warning. Undefined: any. */
  readonly expirationSecondsMax?: number;
}

export interface IssuedToken {
  /** The TokenRequest with the token in its status. */
  readonly object: JsonObject;
  readonly warnings: readonly string[];
}

/** Issues a token; throws what the real server would answer instead. */
export async function issueToken(
  { namespace, name, object }: TokenRequest,
  dependencies: TokenRequestDependencies,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const { tokens, objects, clock, random } = dependencies;
  const metadata = objectAt(object, "metadata");
  const spec = objectAt(object, "spec");
  refuseOtherName(metadata, { namespace, name });
  const account = await objects.find({ kind: "ServiceAccount", namespace, name }, signal);
  if (account === undefined) throw failures.notFound(core("serviceaccounts"), name);
  const uid = uidOf(account);
  const claimedUid = textAt(metadata, "uid");
  if (claimedUid !== "" && claimedUid !== uid) {
    const why = `the UID in the token request (${claimedUid}) does not match the UID of the service account (${uid})`;
    throw failures.conflict({ group: kind.group, resource: kind.kind }, name, why);
  }
  const named = textsAt(spec, "audiences");
  const audiences = named.length === 0 ? tokens.audiences : named;
  const nowMs = clock.now();
  const asked = Number(memberOf(spec, "expirationSeconds") ?? expirationSecondsDefault);
  refuseExpiration(asked);
  const reference = memberOf(spec, "boundObjectRef");
  const bound = isJsonObject(reference)
    ? await findBound(reference, { namespace, name, objects }, signal)
    : {};

  const warnings: string[] = [];
  const longest = dependencies.expirationSecondsMax;
  let seconds = asked;
  if (longest !== undefined && seconds > longest) {
    warnings.push(`requested expiration of ${seconds} seconds shortened to ${longest} seconds`);
    seconds = longest;
  }
  // Pods of old clients never read their token again: theirs live for a year, and a warning is due after the hour.
  const isExtended =
    "pod" in bound &&
    seconds === extendedWish &&
    audiences.every((audience) => tokens.audiences.includes(audience));
  const issuedAt = Math.floor(nowMs / 1000);
  const token = tokens.sign({
    aud: audiences,
    exp: issuedAt + (isExtended ? extendedSeconds : seconds),
    iat: issuedAt,
    jti: random.uuid(),
    [claimName]: {
      namespace,
      ...bound,
      serviceaccount: { name, uid },
      ...(isExtended ? { warnafter: issuedAt + seconds } : {}),
    },
    nbf: issuedAt,
    sub: serviceAccountUser({ namespace, name }),
  });
  return {
    object: {
      ...object,
      metadata: { name, namespace, uid, ...metadata, creationTimestamp: timeFromMs(nowMs) },
      spec: {
        audiences,
        expirationSeconds: seconds,
        boundObjectRef: isJsonObject(reference) ? reference : null,
      },
      status: { token, expirationTimestamp: timeFromMs(nowMs + seconds * 1000) },
    },
    warnings,
  };
}

const kind = { group: "authentication.k8s.io", kind: "TokenRequest" };

/** How long a token holds unless the request says otherwise. */
export const expirationSecondsDefault = 3600;
const expirationSecondsMin = 600;
const expirationSecondsMax = 2 ** 32;
/** What kubelets ask for if a pod says nothing. */
const extendedWish = 3607;
const extendedSeconds = 365 * 24 * 3600;

function refuseOtherName(metadata: JsonObject, place: { namespace: string; name: string }): void {
  for (const key of ["name", "namespace"] as const) {
    const given = textAt(metadata, key);
    if (given === "" || given === place[key]) continue;
    const detail = `must match the service account ${key} if specified`;
    throw failures.invalid(kind, place.name, [invalid(`metadata.${key}`, given, detail)]);
  }
}

function refuseExpiration(seconds: number): void {
  const field = "spec.expirationSeconds";
  const errors: FieldError[] = [];
  if (seconds < expirationSecondsMin) {
    errors.push(invalid(field, seconds, "may not specify a duration less than 10 minutes"));
  }
  if (seconds > expirationSecondsMax) {
    errors.push(invalid(field, seconds, "may not specify a duration larger than 2^32 seconds"));
  }
  if (errors.length > 0) throw failures.invalid(kind, "", errors);
}

/** What is no group and version counts as neither. */
function groupVersionOf(apiVersion: string): readonly [group: string, version: string] {
  const [first = "", second, ...more] = apiVersion.split("/");
  if (more.length > 0) return ["", ""];
  return second === undefined ? ["", first] : [first, second];
}

interface Place {
  readonly namespace: string;
  /** The ServiceAccount. */
  readonly name: string;
  readonly objects: BoundObjects;
}

/** What the token is bound to, as its claim names it. */
async function findBound(
  reference: JsonObject,
  place: Place,
  signal: AbortSignal,
): Promise<JsonObject> {
  const apiVersion = textAt(reference, "apiVersion");
  const boundKind = textAt(reference, "kind");
  const [group, version] = groupVersionOf(apiVersion);
  const plural = group === "" ? plurals.get(boundKind) : undefined;
  if (plural === undefined) {
    const shown = `${group === "" ? `/${version}` : apiVersion}, Kind=${boundKind}`;
    throw failures.badRequest(`cannot bind token to object of type ${shown}`);
  }
  const name = textAt(reference, "name");
  const namespace = plural.kind === "Node" ? "" : place.namespace;
  const object = await place.objects.find({ kind: plural.kind, namespace, name }, signal);
  if (object === undefined) throw failures.notFound(core(plural.resource), name);
  const bound = await claimOf(object, { kind: plural.kind, name }, place, signal);
  const uid = textAt(reference, "uid");
  if (uid !== "" && uid !== uidOf(object)) {
    const why = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw failures.conflict({ group: "", resource: boundKind }, name, why);
  }
  return bound;
}

async function claimOf(
  object: JsonObject,
  { kind: boundKind, name }: { readonly kind: BoundKind; readonly name: string },
  place: Place,
  signal: AbortSignal,
): Promise<JsonObject> {
  const reference = { name, uid: uidOf(object) };
  if (boundKind === "Secret") return { secret: reference };
  if (boundKind === "Node") return { node: reference };
  const spec = objectAt(object, "spec");
  if (textAt(spec, "serviceAccountName") !== place.name) {
    throw failures.badRequest(
      `cannot bind token for serviceaccount ${quote(place.name)} to pod running with different serviceaccount name.`,
    );
  }
  const nodeName = textAt(spec, "nodeName");
  if (nodeName === "") return { pod: reference };
  const node = await place.objects.find({ kind: "Node", namespace: "", name: nodeName }, signal);
  const nodeUid = node === undefined ? {} : { uid: uidOf(node) };
  return { node: { name: nodeName, ...nodeUid }, pod: reference };
}

const plurals: ReadonlyMap<string, { readonly kind: BoundKind; readonly resource: string }> =
  new Map([
    ["Pod", { kind: "Pod", resource: "pods" }],
    ["Secret", { kind: "Secret", resource: "secrets" }],
    ["Node", { kind: "Node", resource: "nodes" }],
  ]);

function core(resource: string) {
  return { group: "", resource };
}

function invalid(field: string, value: string | number, detail: string): FieldError {
  return { type: "FieldValueInvalid", field, value, detail };
}
