// The rules of PriorityLevelConfigurations.

import { jsonEqual, type Json, type JsonObject } from "@keelson/base";

import { printShape, struct } from "../../../go-text/struct-text.ts";
import type { KindRules } from "../../kind-rules.ts";
import {
  annotationsOf,
  has,
  maybeNumber,
  maybeObject,
  numberOf,
  objectOf,
  textOf,
} from "../../../object/members.ts";
import { Place } from "../place.ts";
import { statusErrors } from "./conditions.ts";

const queuesMax = 10_000_000;
const hashBitsMax = 60;
const zeroSharesAnnotation = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

export const priorityLevelConfiguration: KindRules = {
  validate: (object) => {
    const name = textOf(objectOf(object, "metadata"), "name");
    const at = Place.root("spec");
    if (has(annotationsOf(object), zeroSharesAnnotation)) {
      const place = Place.root("metadata", at.errors).child("annotations");
      place.forbidden(`annotation '${zeroSharesAnnotation}' is forbidden`);
    }
    const spec = objectOf(object, "spec");
    checkSpec(spec, at, name);
    checkFixed(spec, at, name);
    return [...at.errors, ...statusErrors(object)];
  },
  validateStatusUpdate: statusErrors,
};

function checkSpec(spec: JsonObject, at: Place, name: string): void {
  const type = textOf(spec, "type");
  if ((name === "exempt") !== (type === "Exempt")) {
    at.child("type").invalidWord(type, "must be 'Exempt' if and only if `name` is 'exempt'");
  }
  const [limited, exempt] = [maybeObject(spec, "limited"), maybeObject(spec, "exempt")];
  switch (type) {
    case "Exempt":
      if (limited !== undefined) {
        at.child("limited").forbidden("must be nil if the type is not Limited");
      }
      if (exempt !== undefined) checkExempt(exempt, at.child("exempt"));
      break;
    case "Limited":
      if (exempt !== undefined) at.child("exempt").forbidden("must be nil if the type is Limited");
      if (limited === undefined) {
        at.child("limited").required("must not be empty when type is Limited");
      } else checkLimited(limited, at.child("limited"));
      break;
    case "":
      at.child("type").required();
      break;
    default:
      at.child("type").notSupported(type, ["Exempt", "Limited"]);
  }
}

function checkShares(shares: JsonObject, at: Place): void {
  const count = maybeNumber(shares, "nominalConcurrencyShares") ?? 0;
  if (count < 0) {
    at.child("nominalConcurrencyShares").invalid(count, "must be a non-negative integer");
  }
}

function checkLendable(shares: JsonObject, at: Place): void {
  const percent = maybeNumber(shares, "lendablePercent");
  if (percent !== undefined && (percent < 0 || percent > 100)) {
    at.child("lendablePercent").invalid(percent, "must be between 0 and 100, inclusive");
  }
}

function checkExempt(exempt: JsonObject, at: Place): void {
  checkShares(exempt, at);
  checkLendable(exempt, at);
}

function checkLimited(limited: JsonObject, at: Place): void {
  checkShares(limited, at);
  checkResponse(objectOf(limited, "limitResponse"), at.child("limitResponse"));
  checkLendable(limited, at);
  const percent = maybeNumber(limited, "borrowingLimitPercent");
  if (percent !== undefined && percent < 0) {
    const detail = "if specified, must be a non-negative integer";
    at.child("borrowingLimitPercent").invalid(percent, detail);
  }
}

function checkResponse(response: JsonObject, at: Place): void {
  const type = textOf(response, "type");
  const queuing = maybeObject(response, "queuing");
  switch (type) {
    case "Reject":
      if (queuing !== undefined) {
        const detail = "must be nil if limited.limitResponse.type is not Limited";
        at.child("queuing").forbidden(detail);
      }
      break;
    case "Queue":
      if (queuing === undefined) {
        const detail = "must not be empty if limited.limitResponse.type is Limited";
        at.child("queuing").required(detail);
      } else checkQueuing(queuing, at.child("queuing"));
      break;
    case "":
      at.child("type").required();
      break;
    default:
      at.child("type").notSupported(type, ["Queue", "Reject"]);
  }
}

function checkQueuing(queuing: JsonObject, at: Place): void {
  const [length, queues, hand] = [
    numberOf(queuing, "queueLengthLimit"),
    numberOf(queuing, "queues"),
    numberOf(queuing, "handSize"),
  ];
  if (length <= 0) at.child("queueLengthLimit").invalid(length, "must be positive");
  if (queues <= 0) at.child("queues").invalid(queues, "must be positive");
  else if (queues > queuesMax) {
    at.child("queues").invalid(queues, `must not be greater than ${queuesMax}`);
  }
  const place = at.child("handSize");
  if (hand <= 0) place.invalid(hand, "must be positive");
  else if (hand > queues) {
    place.invalid(hand, `should not be greater than queues (${queues})`);
  } else if (Math.ceil(Math.log2(queues) * hand) > hashBitsMax) {
    place.invalid(
      hand,
      `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${hashBitsMax}`,
    );
  }
}

const catchAll: Json = {
  type: "Limited",
  limited: {
    nominalConcurrencyShares: 5,
    limitResponse: { type: "Reject" },
    lendablePercent: 0,
  },
};

/** Two levels are what they are. */
function checkFixed(spec: JsonObject, at: Place, name: string): void {
  if (name === "exempt") {
    const { exempt: _, ...rest } = spec;
    if (jsonEqual(rest, { type: "Exempt" })) return;
    const detail = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value";
    at.invalidShown(printShape(specShape, spec), detail);
  } else if (name === "catch-all" && !jsonEqual(spec, catchAll)) {
    const detail = "spec of 'catch-all' must equal the fixed value";
    at.invalidShown(printShape(specShape, spec), detail);
  }
}

const specShape = struct("Type type string\nLimited limited *limited\nExempt exempt *exempt", {
  exempt: () =>
    struct(
      "NominalConcurrencyShares nominalConcurrencyShares *number\nLendablePercent lendablePercent *number",
    ),
  limited: () =>
    struct(
      `NominalConcurrencyShares nominalConcurrencyShares number
        LimitResponse limitResponse response
        LendablePercent lendablePercent *number
        BorrowingLimitPercent borrowingLimitPercent *number`,
      {
        response: () =>
          struct("Type type string\nQueuing queuing *queuing", {
            queuing: () =>
              struct(
                `Queues queues number
                  HandSize handSize number
                  QueueLengthLimit queueLengthLimit number`,
              ),
          }),
      },
    ),
});
