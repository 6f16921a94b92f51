// The rules of CertificateSigningRequests.

import {
  cloneJson,
  jsonEqual,
  setMember,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";

import { bytesOfBase64 } from "../../../go-text/base64.ts";
import { quote } from "../../../go-text/quote.ts";
import { memberOf } from "../../../object/member.ts";
import { pathSegmentNames } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import type { KindRules, RuleContext } from "../../kind-rules.ts";
import {
  has,
  maybeNumber,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
  writableObject,
  writableObjects,
  writableOrMade,
} from "../../../object/members.ts";
import { certificateProblem, certificateRequestProblem } from "../meta/certificate-form.ts";
import { decodePem } from "../meta/pem.ts";
import { Place } from "../place.ts";
import { signatureProblem } from "./request-signature.ts";
import { checkSignerName } from "./signer-name.ts";

const usages = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const legacySigner = "kubernetes.io/legacy-unknown";
const final = ["Approved", "Denied", "Failed"] as const;

/** What an update may touch. */
interface Options {
  readonly setsApproval: boolean;
  readonly setsCertificate: boolean;
  readonly context: RuleContext;
}

export const certificateSigningRequest: KindRules = {
  names: pathSegmentNames,
  prepareForCreate: (object, { user }) => {
    // Who asks is the server's to say.
    const spec = writableObject(object, "spec");
    for (const name of ["username", "uid", "groups", "extra"]) delete spec?.[name];
    if (spec !== undefined && user !== undefined) writeUser(spec, user);
    object["status"] = {};
  },
  prepareForUpdate: (object, old) => {
    keep(object, old, "spec");
    keep(object, old, "status");
  },
  prepareForStatusUpdate: (object, old, context) => {
    keepConditions(object, old, "Approved");
    keepConditions(object, old, "Denied");
    stampConditions(object, old, context);
  },
  validate: (object, context) => requestErrors(object, { old: undefined, context }),
  validateUpdate: (object, old, context) =>
    updateErrors(object, old, { setsApproval: false, setsCertificate: false, context }),
  validateStatusUpdate: (object, old, context) =>
    updateErrors(object, old, { setsApproval: false, setsCertificate: true, context }),
};

/** The same at `/approval`, which is updated as a status is. */
export const certificateSigningRequestApproval: KindRules = {
  names: pathSegmentNames,
  prepareForStatusUpdate: (object, old, context) => {
    stampConditions(object, old, context);
    const conditions = memberOf(objectOf(object, "status"), "conditions");
    keep(object, old, "status");
    const status = writableOrMade(object, "status");
    if (conditions === undefined) delete status["conditions"];
    else status["conditions"] = cloneJson(conditions);
  },
  validateStatusUpdate: (object, old, context) =>
    updateErrors(object, old, { setsApproval: true, setsCertificate: false, context }),
};

function keep(object: MutableJsonObject, old: JsonObject, name: string): void {
  const value = memberOf(old, name);
  if (value === undefined) delete object[name];
  else object[name] = cloneJson(value);
}

/** Decisions that are already there stay as they are, unless there are more or fewer of them. */
function keepConditions(object: MutableJsonObject, old: JsonObject, type: string): void {
  const status = writableObject(object, "status");
  if (status === undefined || !has(status, "conditions")) return;
  const isMeant = (condition: JsonObject): boolean => textOf(condition, "type") === type;
  const before = objectsOf(objectOf(old, "status"), "conditions").filter(isMeant);
  const now = writableObjects(status, "conditions");
  if (now.filter(isMeant).length !== before.length) return;
  let next = 0;
  status["conditions"] = now.map((condition) => {
    const kept = isMeant(condition) ? before[next++] : undefined;
    return kept === undefined ? condition : cloneJson(kept);
  });
}

function stampConditions(object: MutableJsonObject, old: JsonObject, { now }: RuleContext): void {
  const status = writableObject(object, "status");
  const keyOf = (condition: JsonObject): string =>
    JSON.stringify([textOf(condition, "type"), textOf(condition, "status")]);
  const times = new Map<string, string>();
  for (const condition of objectsOf(objectOf(old, "status"), "conditions")) {
    const key = keyOf(condition);
    if (!has(condition, "lastTransitionTime") || times.has(key)) continue;
    times.set(key, textOf(condition, "lastTransitionTime"));
  }
  for (const condition of status === undefined ? [] : writableObjects(status, "conditions")) {
    if (!has(condition, "lastUpdateTime")) condition["lastUpdateTime"] = now;
    if (has(condition, "lastTransitionTime")) continue;
    condition["lastTransitionTime"] = times.get(keyOf(condition)) ?? now;
  }
}

function requestErrors(
  object: JsonObject,
  { old, context }: { readonly old: JsonObject | undefined; readonly context: RuleContext },
): FieldError[] {
  const at = Place.root("spec");
  const spec = objectOf(object, "spec");
  const before = objectOf(old ?? {}, "spec");
  const request = textOf(spec, "request");
  const problem = requestProblem(request, context);
  if (problem !== undefined) {
    at.child("request").invalid(request === "" ? null : request, problem);
  }
  const list = textsOf(spec, "usages");
  const place = at.child("usages");
  if (list.length === 0) place.required();
  const oldUsages = textsOf(before, "usages");
  if (oldUsages.every((usage) => usages.includes(usage))) {
    for (const [index, usage] of list.entries()) {
      if (!usages.includes(usage)) place.item(index).notSupported(usage, usages);
    }
  }
  if (new Set(oldUsages).size === oldUsages.length) {
    const seen = new Set<string>();
    for (const [index, usage] of list.entries()) {
      if (seen.has(usage)) place.item(index).duplicateWord(usage);
      seen.add(usage);
    }
  }
  const signer = textOf(spec, "signerName");
  if (signer === legacySigner && textOf(before, "signerName") !== legacySigner) {
    const detail = "the legacy signerName is not allowed via this API version";
    at.child("signerName").invalid(signer, detail);
  } else checkSignerName(signer, at.child("signerName"));
  const seconds = maybeNumber(spec, "expirationSeconds");
  if (seconds !== undefined && seconds < 600) {
    const detail = "may not specify a duration less than 600 seconds (10 minutes)";
    at.child("expirationSeconds").invalid(seconds, detail);
  }
  const status = Place.root("status", at.errors);
  checkConditions(object, old, status.child("conditions"));
  const [now, was] = [certificateOf(object), old === undefined ? undefined : certificateOf(old)];
  if (now !== was && (was === undefined || certificateBytesProblem(was) === undefined)) {
    const wrong = certificateBytesProblem(now);
    if (wrong !== undefined) status.child("certificate").invalid("<certificate data>", wrong);
  }
  return at.errors;
}

function certificateOf(object: JsonObject): string {
  return textOf(objectOf(object, "status"), "certificate");
}

function requestProblem(request: string, { isSigned }: RuleContext): string | undefined {
  const { block } = decodePem(bytesOfBase64(request) ?? "");
  if (block === undefined || block.type !== "CERTIFICATE REQUEST") {
    return "PEM block type must be CERTIFICATE REQUEST";
  }
  const wrong = certificateRequestProblem(block.bytes);
  if (wrong !== undefined || isSigned === undefined) return wrong;
  return signatureProblem(block.bytes, isSigned);
}

function certificateBytesProblem(certificate: string): string | undefined {
  let rest = bytesOfBase64(certificate) ?? "";
  if (rest === "") return undefined;
  for (let count = 0; ; count += 1) {
    const decoded = decodePem(rest);
    if (decoded.block === undefined) {
      return count === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
    }
    const { type, headers, bytes } = decoded.block;
    if (type !== "CERTIFICATE") {
      return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    }
    if (headers.size > 0) return "no PEM block headers are permitted";
    if (bytes.length === 0) return "found CERTIFICATE PEM block containing 0 certificates";
    const problem = certificateProblem(bytes);
    if (problem !== undefined) return problem;
    rest = decoded.rest;
  }
}

function checkConditions(object: JsonObject, old: JsonObject | undefined, at: Place): void {
  const before = objectsOf(objectOf(old ?? {}, "status"), "conditions").map((condition) =>
    textOf(condition, "type"),
  );
  const allowsEmpty = before.includes("");
  const allowsDuplicates = new Set(before).size < before.length;
  const allowsBoth = before.includes("Approved") && before.includes("Denied");
  const seen = new Set<string>();
  for (const [index, condition] of objectsOf(objectOf(object, "status"), "conditions").entries()) {
    const place = at.item(index);
    const [type, status] = [textOf(condition, "type"), textOf(condition, "status")];
    if (type === "" && !allowsEmpty) place.child("type").required();
    const isFinal = final.some((one) => one === type);
    const statuses = isFinal ? ["True"] : ["False", "True", "Unknown"];
    if (status === "") place.child("status").required();
    else if (!statuses.includes(status)) place.child("status").notSupported(status, statuses);
    const other = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : undefined;
    if (!allowsBoth && other !== undefined && seen.has(other)) {
      at.invalidWord(type, "Approved and Denied conditions are mutually exclusive");
    }
    if (seen.has(type) && !allowsDuplicates) place.child("type").duplicateWord(type);
    seen.add(type);
  }
}

function updateErrors(object: JsonObject, old: JsonObject, options: Options): FieldError[] {
  const errors = requestErrors(object, { old, context: options.context });
  const at = Place.root("status", errors);
  const ofType = (from: JsonObject, type: string): readonly Json[] =>
    objectsOf(objectOf(from, "status"), "conditions").filter(
      (condition) => textOf(condition, "type") === type,
    );
  for (const type of final) {
    if (ofType(object, type).length < ofType(old, type).length) {
      at.child("conditions").forbidden(`updates may not remove a condition of type "${type}"`);
    }
  }
  for (const type of options.setsApproval ? [] : (["Approved", "Denied"] as const)) {
    const [now, before] = [ofType(object, type), ofType(old, type)];
    if (now.length > before.length) {
      at.child("conditions").forbidden(`updates may not add a condition of type "${type}"`);
    } else if (now.length === before.length && !jsonEqual(now, before)) {
      at.child("conditions").forbidden(`updates may not modify a condition of type "${type}"`);
    }
  }
  if (certificateOf(object) !== certificateOf(old)) {
    if (!options.setsCertificate) {
      at.child("certificate").forbidden("updates may not set certificate content");
    } else if (certificateOf(old) !== "") {
      at.child("certificate").forbidden("updates may not modify existing certificate content");
    }
  }
  return errors;
}

function writeUser(spec: MutableJsonObject, user: NonNullable<RuleContext["user"]>): void {
  if (user.name !== "") spec["username"] = user.name;
  if (user.uid !== "") spec["uid"] = user.uid;
  if (user.groups.length > 0) spec["groups"] = [...user.groups];
  const extra: MutableJsonObject = {};
  for (const [key, values] of Object.entries(user.extra)) setMember(extra, key, [...values]);
  if (Object.keys(extra).length > 0) spec["extra"] = extra;
}
