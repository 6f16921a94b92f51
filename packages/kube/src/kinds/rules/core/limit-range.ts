import type { JsonObject } from "@keelson/base";

import { compareBytes } from "../../../go-text/byte-order.ts";
import { memberOf } from "../../../object/member.ts";
import {
  has,
  objectOf,
  objectsOf,
  sortedKeys,
  textOf,
  writableOrMade,
} from "../../../object/members.ts";
import { labelKeyProblems } from "../../../object/names.ts";
import { quantityFromJson, scaledValue } from "../../../quantity/quantity.ts";
import type { KindRules } from "../../kind-rules.ts";
import { compareAmounts, showAmount } from "../amounts.ts";
import { Place } from "../place.ts";
import {
  checkContainerResourceName,
  checkResourceName,
  isOvercommitAllowed,
} from "../resource-names.ts";

export const limitRangeRules: KindRules = {
  prepareForCreate: (range, { uuid }) => {
    const metadata = writableOrMade(range, "metadata");
    if (textOf(metadata, "name") === "") metadata["name"] = uuid();
  },
  validate: (range) => {
    const at = Place.root("spec").child("limits");
    const types = new Set<string>();
    for (const [index, limit] of objectsOf(objectOf(range, "spec"), "limits").entries()) {
      const type = textOf(limit, "type");
      checkType(type, at.item(index).child("type"));
      if (types.has(type)) at.item(index).child("type").duplicateWord(type);
      types.add(type);
      checkLimit(limit, at.item(index), type);
    }
    return at.errors;
  },
};

function checkType(type: string, at: Place): void {
  const problems = labelKeyProblems(type);
  at.invalidWordEach(type, problems);
  const isStandard = ["Pod", "Container", "PersistentVolumeClaim"].includes(type);
  if (problems.length === 0 && !type.includes("/") && !isStandard) {
    at.invalidWord(type, "must be a standard limit type or fully qualified");
  }
}

function checkLimit(limit: JsonObject, at: Place, type: string): void {
  const checkName =
    type === "Pod" || type === "Container" ? checkContainerResourceName : checkResourceName;
  const names = new Set<string>();
  const collect = (member: string): void => {
    for (const name of sortedKeys(objectOf(limit, member))) {
      checkName(name, at.child(member).key(name));
      names.add(name);
    }
  };
  collect("max");
  collect("min");
  for (const member of ["default", "defaultRequest"]) {
    if (type !== "Pod") collect(member);
    else if (has(limit, member)) {
      at.child(member).forbidden("may not be specified when `type` is 'Pod'");
    }
  }
  if (type === "PersistentVolumeClaim") {
    const isLimited = ["min", "max"].some((member) => has(objectOf(limit, member), "storage"));
    if (!isLimited) {
      at.child("limits").required(
        "either minimum or maximum storage value is required, but neither was provided",
      );
    }
  }
  collect("maxLimitRequestRatio");
  for (const name of [...names].sort(compareBytes)) checkResource(limit, at, { name, type });
}

function checkResource(
  limit: JsonObject,
  at: Place,
  { name, type }: { readonly name: string; readonly type: string },
): void {
  const isPod = type === "Pod";
  const textIn = (member: string): string | undefined => {
    const amount = memberOf(objectOf(limit, member), name);
    return amount === undefined || amount === null ? undefined : showAmount(amount);
  };
  const [min, max, ratio] = [textIn("min"), textIn("max"), textIn("maxLimitRequestRatio")];
  const [standard, request] = isPod ? [] : [textIn("default"), textIn("defaultRequest")];
  const isAbove = (a: string | undefined, b: string | undefined): boolean =>
    a !== undefined && b !== undefined && compareAmounts(a, b) > 0;
  const say = (member: string, shown: string | undefined, detail: string): void =>
    at
      .child(member)
      .key(name)
      .invalid(shown ?? "", detail);
  if (isAbove(min, max)) say("min", min, `min value ${min} is greater than max value ${max}`);
  if (isAbove(min, request)) {
    say(
      "defaultRequest",
      request,
      `min value ${min} is greater than default request value ${request}`,
    );
  }
  if (isAbove(request, max)) {
    say(
      "defaultRequest",
      request,
      `default request value ${request} is greater than max value ${max}`,
    );
  }
  if (isAbove(request, standard)) {
    say(
      "defaultRequest",
      request,
      `default request value ${request} is greater than default limit value ${standard}`,
    );
  }
  if (isAbove(min, standard)) {
    say("default", min, `min value ${min} is greater than default value ${standard}`);
  }
  if (isAbove(standard, max)) {
    say("default", max, `default value ${standard} is greater than max value ${max}`);
  }
  if (ratio !== undefined && compareAmounts(ratio, "1") < 0) {
    say("maxLimitRequestRatio", ratio, `ratio ${ratio} is less than 1`);
  }
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    const most = ratioOf({ min, max, ratio });
    if (most !== undefined) {
      say("maxLimitRequestRatio", ratio, `ratio ${ratio} is greater than max/min = ${most}`);
    }
  }
  if (isOvercommitAllowed(name) || standard === undefined || request === undefined) return;
  if (compareAmounts(standard, request) !== 0) {
    say(
      "defaultRequest",
      request,
      `default value ${standard} must equal to defaultRequest value ${request} in ${name}`,
    );
  }
}

/** More than this many units are not counted in thousandths. */
const milliMax = (2n ** 63n - 1n) / 1000n;

/** The most that the ratio may be, as a text, if it is more than that. */
function ratioOf(limits: {
  readonly min: string;
  readonly max: string;
  readonly ratio: string;
}): string | undefined {
  const amounts = [limits.ratio, limits.min, limits.max].map(quantityFromJson);
  const units = (scale: number): readonly bigint[] =>
    amounts.map((amount) => scaledValue(amount, scale));
  const isSmall = units(0).every((value) => value < milliMax);
  const [ratio = 0n, min = 0n, max = 0n] = units(isSmall ? -3 : 0);
  const asked = isSmall ? Number(ratio) / 1000 : Number(ratio);
  const most = Number(max) / Number(min);
  if (!(asked > most)) return undefined;
  return Number.isFinite(most) ? most.toFixed(6) : "+Inf";
}
