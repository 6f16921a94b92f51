// What a claim asks for.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { byteLength } from "../../../go-text/byte-order.ts";
import { struct, type Shape } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import {
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import {
  dnsSubdomainProblems,
  labelKeyProblems,
  labelValueProblems,
} from "../../../object/names.ts";
import { tolerationShape } from "../core/pod/tolerations.ts";
import type { Place } from "../place.ts";
import { checkDriverName } from "../meta/driver-name.ts";
import { checkNameWithDomain, checkLabelName } from "./names.ts";
import { checkEach, checkSet } from "./sets.ts";

const requestsMax = 32;
const constraintsMax = 32;
export const configsMax = 32;
const selectorsMax = 32;
const alternativesMax = 8;
const expressionBytesMax = 10 * 1024;
const rawBytesMax = 10 * 1024;
export const taintEffects = ["NoExecute", "NoSchedule", "None"];

/** Names of requests, each with the names of its alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

export function requestNamesOf(devices: JsonObject): RequestNames {
  return new Map(
    objectsOf(devices, "requests").map((request) => [
      textOf(request, "name"),
      new Set(objectsOf(request, "firstAvailable").map((one) => textOf(one, "name"))),
    ]),
  );
}

export function checkClaimSpec(spec: JsonObject, at: Place): void {
  const devices = objectOf(spec, "devices");
  const place = at.child("devices");
  const names = requestNamesOf(devices);
  checkSet(objectsOf(devices, "requests"), place.child("requests"), {
    max: requestsMax,
    check: checkRequest,
    keyOf: (request) => textOf(request, "name"),
  });
  checkEach(objectsOf(devices, "constraints"), place.child("constraints"), {
    max: constraintsMax,
    check: (constraint, own) => checkConstraint(constraint, own, names),
  });
  checkEach(objectsOf(devices, "config"), place.child("config"), {
    max: configsMax,
    check: (config, own) => {
      checkRequestRefs(textsOf(config, "requests"), own.child("requests"), names);
      checkConfig(config, own);
    },
  });
}

function checkRequest(request: JsonObject, at: Place): void {
  checkLabelName(textOf(request, "name"), at.child("name"));
  const exactly = maybeObject(request, "exactly");
  const alternatives = objectsOf(request, "firstAvailable");
  const needed = "exactly one of `exactly` or `firstAvailable` is required";
  if (exactly === undefined && alternatives.length === 0) at.required(needed);
  else if (exactly !== undefined && alternatives.length > 0) {
    at.invalid(null, `${needed}, but multiple fields are set`);
  } else if (exactly !== undefined) checkDevice(exactly, at.child("exactly"));
  else {
    checkSet(alternatives, at.child("firstAvailable"), {
      max: alternativesMax,
      check: (one, own) => {
        checkLabelName(textOf(one, "name"), own.child("name"));
        checkDevice(one, own);
      },
      keyOf: (one) => textOf(one, "name"),
    });
  }
}

function checkDevice(request: JsonObject, at: Place): void {
  const name = textOf(request, "deviceClassName");
  if (name === "") at.child("deviceClassName").required();
  else at.child("deviceClassName").invalidEach(name, dnsSubdomainProblems(name));
  checkSelectors(objectsOf(request, "selectors"), at.child("selectors"));
  const mode = textOf(request, "allocationMode");
  const count = numberOf(request, "count");
  const shownCount = memberOf(request, "count") ?? 0;
  switch (mode) {
    case "All":
      if (count !== 0) {
        at.child("count").invalid(shownCount, "must not be specified when allocationMode is 'All'");
      }
      break;
    case "ExactCount":
      if (count <= 0) at.child("count").invalid(shownCount, "must be greater than zero");
      break;
    default:
      at.child("allocationMode").notSupported(mode, ["All", "ExactCount"]);
  }
  for (const [index, toleration] of objectsOf(request, "tolerations").entries()) {
    checkToleration(toleration, at.child("tolerations").item(index));
  }
}

/** What the real server's parser says of nothing. */
const emptyExpression =
  "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Reports selectors without an expression, or with a long one. Expressions are not compiled. */
export function checkSelectors(selectors: readonly JsonObject[], at: Place): void {
  checkEach(selectors, at, {
    max: selectorsMax,
    check: (selector, own) => {
      const cel = maybeObject(selector, "cel");
      if (cel === undefined) {
        own.child("cel").required();
        return;
      }
      const expression = textOf(cel, "expression");
      const place = own.child("cel").child("expression");
      if (byteLength(expression) > expressionBytesMax) place.tooLong(expressionBytesMax);
      else if (expression === "") place.invalid("", emptyExpression);
    },
  });
}

function checkToleration(toleration: JsonObject, at: Place): void {
  const [key, value] = [textOf(toleration, "key"), textOf(toleration, "value")];
  if (key !== "") at.child("key").invalidEach(key, labelKeyProblems(key));
  const operator = textOf(toleration, "operator");
  switch (operator) {
    case "Exists":
      if (value !== "") at.child("value").invalid(value, "must be empty for operator `Exists`");
      break;
    case "Equal":
      at.child("value").invalidEach(value, labelValueProblems(value));
      break;
    case "":
      at.child("operator").required();
      break;
    default:
      at.child("operator").notSupported(operator, ["Equal", "Exists"]);
  }
  const effect = textOf(toleration, "effect");
  if (effect !== "" && !taintEffects.includes(effect)) {
    at.child("effect").notSupported(effect, taintEffects);
  }
}

function checkConstraint(constraint: JsonObject, at: Place, names: RequestNames): void {
  checkRequestRefs(textsOf(constraint, "requests"), at.child("requests"), names);
  const match = maybeText(constraint, "matchAttribute");
  const distinct = maybeText(constraint, "distinctAttribute");
  if (match !== undefined) checkNameWithDomain(match, at.child("matchAttribute"));
  else if (distinct !== undefined) {
    checkNameWithDomain(distinct, at.child("distinctAttribute"));
  } else {
    at.required(
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    );
  }
}

export function checkRequestRefs(list: readonly string[], at: Place, names: RequestNames): void {
  checkSet(list, at, {
    max: requestsMax,
    check: (name, own) => checkRequestRef(name, own, names),
    keyOf: (name) => name,
  });
}

/** Reports what is neither a request nor one of its alternatives. */
export function checkRequestRef(name: string, at: Place, names: RequestNames): void {
  const detail =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
  const segments = name.split("/");
  if (segments.length > 2) {
    at.invalid(name, detail);
    return;
  }
  for (const segment of segments) checkLabelName(segment, at);
  const [request = "", alternative] = segments;
  const alternatives = names.get(request);
  const isKnown =
    alternatives !== undefined && (alternative === undefined || alternatives.has(alternative));
  if (!isKnown) at.invalid(name, detail);
}

/** Reports what is wrong with the parameters of a driver. */
export function checkConfig(config: JsonObject, at: Place): void {
  const opaque = maybeObject(config, "opaque");
  if (opaque === undefined) {
    at.child("opaque").required();
    return;
  }
  const place = at.child("opaque");
  checkDriverName(textOf(opaque, "driver"), place.child("driver"));
  checkRaw(memberOf(opaque, "parameters"), place.child("parameters"));
}

/** Reports what is no object, or a large one. */
export function checkRaw(raw: Json | undefined, at: Place): void {
  if (raw === undefined || raw === null) at.required();
  else if (byteLength(goJson(raw)) > rawBytesMax) at.tooLong(rawBytesMax);
  else if (!isJsonObject(raw)) at.invalid("<value omitted>", "must be a valid JSON object");
}

/** What a configuration is besides whom it is for. */
export const configFields = "Opaque opaque *opaque";
export const configTypes = {
  opaque: (): Shape => struct("Driver driver string\nParameters parameters any"),
};
const deviceFields = `DeviceClassName deviceClassName string
  Selectors selectors []selector
  AllocationMode allocationMode string
  Count count number`;
const deviceTypes = {
  selector: (): Shape =>
    struct("CEL cel *cel", { cel: () => struct("Expression expression string") }),
  toleration: (): Shape => tolerationShape,
  capacity: (): Shape => struct("Requests requests {}any"),
};

/** A claim's spec as messages show it. */
export const claimSpecShape = struct("Devices devices devices", {
  devices: () =>
    struct(
      "Requests requests []request\nConstraints constraints []constraint\nConfig config []config",
      {
        request: () =>
          struct(
            "Name name string\nExactly exactly *exactly\nFirstAvailable firstAvailable []one",
            {
              exactly: () =>
                struct(
                  `${deviceFields}
                AdminAccess adminAccess *boolean
                Tolerations tolerations []toleration
                Capacity capacity *capacity`,
                  deviceTypes,
                ),
              one: () =>
                struct(
                  `Name name string
                ${deviceFields}
                Tolerations tolerations []toleration
                Capacity capacity *capacity`,
                  deviceTypes,
                ),
            },
          ),
        constraint: () =>
          struct(
            `Requests requests []string
            MatchAttribute matchAttribute *string
            DistinctAttribute distinctAttribute *string`,
          ),
        config: () => struct(`Requests requests []string\n${configFields}`, configTypes),
      },
    ),
});
