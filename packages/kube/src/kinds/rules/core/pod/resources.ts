// What containers, and Pods as a whole, ask for.

import type { JsonObject } from "@keelson/base";

import { compareBytes } from "../../../../go-text/byte-order.ts";
import { memberOf } from "../../../../object/member.ts";
import {
  has,
  listOf,
  maybeObject,
  objectOf,
  objectsOf,
  sortedKeys,
  textOf,
} from "../../../../object/members.ts";
import { dnsLabelProblems } from "../../../../object/names.ts";
import {
  addQuantities,
  BadQuantity,
  compareQuantities,
  parseQuantity,
  printQuantity,
  quantityFromJson,
  type Quantity,
} from "../../../../quantity/quantity.ts";
import {
  checkAmount,
  compareAmounts,
  isFractional,
  showAmount,
  wholeUnits,
} from "../../amounts.ts";
import type { Place } from "../../place.ts";
import {
  checkContainerResourceName,
  checkPodResourceName,
  isHugePages,
  isOvercommitAllowed,
} from "../../resource-names.ts";
import type { PodRuleOptions } from "./pod-options.ts";

interface ResourceRuleOptions {
  readonly options: Pick<PodRuleOptions, "allowIndivisiblePages">;
  /** Names of the Pod's claims. */
  readonly claims: ReadonlySet<string>;
  /** Reports a name that is not allowed here. */
  readonly checkName?: (name: string, at: Place) => void;
}

/** Reports what is wrong with limits, requests and claims. */
export function checkResources(
  resources: JsonObject,
  at: Place,
  { options, claims, checkName = checkContainerResourceName }: ResourceRuleOptions,
): void {
  const limits = objectOf(resources, "limits");
  const requests = objectOf(resources, "requests");
  let hasCompute = false;
  let hasPages = false;
  const checkEach = (map: JsonObject, place: Place, checkMore?: (name: string) => void): void => {
    for (const name of sortedKeys(map)) {
      const amount = memberOf(map, name) ?? "0";
      const own = place.key(name);
      checkName(name, own);
      checkAmount(amount, own, { resource: name });
      checkMore?.(name);
      if (isHugePages(name)) {
        hasPages = true;
        if (!options.allowIndivisiblePages && isIndivisible(name, amount)) {
          const text = showAmount(amount);
          own.invalid(text, `${text} is not positive integer multiple of ${name}`);
        }
      }
      if (name === "cpu" || name === "memory") hasCompute = true;
    }
  };
  const [limitsAt, requestsAt] = [at.child("limits"), at.child("requests")];
  checkEach(limits, limitsAt);
  checkEach(requests, requestsAt, (name) => {
    const [amount, limit] = [memberOf(requests, name) ?? "0", memberOf(limits, name)];
    if (limit === undefined || limit === null) {
      if (!isOvercommitAllowed(name)) {
        limitsAt.required("Limit must be set for non overcommitable resources");
      }
      return;
    }
    const order = compareAmounts(amount, limit);
    if (order !== 0 && !isOvercommitAllowed(name)) {
      requestsAt.invalid(
        showAmount(amount),
        `must be equal to ${name} limit of ${showAmount(limit)}`,
      );
    } else if (order > 0) {
      requestsAt.invalid(
        showAmount(amount),
        `must be less than or equal to ${name} limit of ${showAmount(limit)}`,
      );
    }
  });
  if (!hasCompute && hasPages) at.forbidden("HugePages require cpu or memory");
  if (has(resources, "claims")) {
    checkClaims(objectsOf(resources, "claims"), at.child("claims"), claims);
  }
}

/** Reports what is wrong with the resources of a Pod as a whole. */
export function checkPodResources(spec: JsonObject, at: Place, options: ResourceRuleOptions): void {
  const resources = maybeObject(spec, "resources");
  if (resources === undefined) return;
  if (textOf(objectOf(spec, "os"), "name") === "windows") {
    at.forbidden("may not be set for a windows pod");
    return;
  }
  if (has(resources, "claims")) {
    at.child("claims").forbidden("claims may not be set for Resources at pod-level");
  }
  checkResources(resources, at, { ...options, checkName: checkPodResourceName });
  checkConsistency(spec, at, resources);
}

/** Whether an amount of huge pages is not a whole number of them. */
export function hasIndivisiblePages(resources: JsonObject): boolean {
  return ["limits", "requests"].some((list) => {
    const amounts = objectOf(resources, list);
    return Object.keys(amounts).some(
      (name) => isHugePages(name) && isIndivisible(name, memberOf(amounts, name) ?? "0"),
    );
  });
}

function checkClaims(uses: readonly JsonObject[], at: Place, claims: ReadonlySet<string>): void {
  const seen = new Set<string>();
  /** How many requests of a claim were named. */
  const parts = new Map<string, number>();
  let unknown: string | undefined;
  for (const [index, use] of uses.entries()) {
    const place = at.item(index);
    const [name, request] = [textOf(use, "name"), textOf(use, "request")];
    if (name === "") {
      place.required();
      continue;
    }
    if (seen.has(name)) place.duplicate(name);
    else {
      const key = request === "" ? name : `${name}/${request}`;
      if (request !== "") place.child("request").invalidEach(request, dnsLabelProblems(request));
      if (seen.has(key)) place.duplicate(key);
      else if (request === "") {
        for (let count = parts.get(name) ?? 0; count > 0; count--) place.duplicate(name);
      } else parts.set(name, (parts.get(name) ?? 0) + 1);
      seen.add(key);
    }
    if (!claims.has(name)) place.notFound(name, (unknown ??= unknownClaim(claims)));
  }
}

function unknownClaim(claims: ReadonlySet<string>): string {
  const names = [...claims].sort(compareBytes).join(", ");
  const rest = claims.size === 0 ? " which is empty" : `: ${names}`;
  return `must be one of the names in pod.spec.resourceClaims${rest}`;
}

function checkConsistency(spec: JsonObject, at: Place, resources: JsonObject): void {
  const requests = objectOf(resources, "requests");
  const limits = objectOf(resources, "limits");
  for (const [name, sum] of aggregate(spec, "requests")) {
    const own = memberOf(requests, name);
    if (own === undefined || own === null) continue;
    if (compareQuantities(sum, quantityFromJson(own)) > 0) {
      at.child("requests")
        .key(name)
        .invalid(
          showAmount(own),
          `must be greater than or equal to aggregate container requests of ${printQuantity(sum)}`,
        );
    }
  }
  for (const [name, sum] of aggregate(spec, "limits")) {
    const own = memberOf(limits, name);
    if (!isHugePages(name) || own === undefined || own === null) continue;
    if (compareQuantities(sum, quantityFromJson(own)) > 0) {
      at.child("limits")
        .key(name)
        .invalid(
          showAmount(own),
          `must be greater than or equal to aggregate container limits of ${printQuantity(sum)}`,
        );
    }
  }
  for (const [index, container] of objectsOf(spec, "containers").entries()) {
    const own = objectOf(objectOf(container, "resources"), "limits");
    for (const name of sortedKeys(own)) {
      const [amount, limit] = [memberOf(own, name) ?? "0", memberOf(limits, name)];
      if (limit === undefined || limit === null || compareAmounts(amount, limit) <= 0) continue;
      at.child("containers")
        .item(index)
        .key(name)
        .child("limits")
        .invalid(
          showAmount(amount),
          `must be less than or equal to pod limits of ${showAmount(limit)}`,
        );
    }
  }
}

type Sums = Map<string, Quantity>;

/** What all containers need at the worst moment: when they run, or when one of the init containers does. */
function aggregate(
  spec: JsonObject,
  list: "requests" | "limits",
): readonly (readonly [string, Quantity])[] {
  const sums: Sums = new Map();
  for (const container of objectsOf(spec, "containers")) add(sums, container, list);
  const sidecars: Sums = new Map();
  const peak: Sums = new Map();
  for (const container of objectsOf(spec, "initContainers")) {
    if (textOf(container, "restartPolicy") === "Always") {
      add(sums, container, list);
      add(sidecars, container, list);
      for (const name of namesOf(container, list)) raise(peak, name, sidecars.get(name));
    } else {
      // Only what the container itself asks for is more than before.
      const now: Sums = new Map();
      for (const name of namesOf(container, list)) {
        const before = sidecars.get(name);
        if (before !== undefined) now.set(name, before);
      }
      add(now, container, list);
      for (const [name, amount] of now) raise(peak, name, amount);
    }
  }
  for (const [name, amount] of peak) raise(sums, name, amount);
  return [...sums].sort(([a], [b]) => compareBytes(a, b));
}

function add(sums: Sums, container: JsonObject, list: string): void {
  const amounts = objectOf(objectOf(container, "resources"), list);
  for (const name of Object.keys(amounts)) {
    const amount = quantityFromJson(memberOf(amounts, name) ?? "0");
    const before = sums.get(name);
    sums.set(name, before === undefined ? amount : addQuantities(before, amount));
  }
}

function namesOf(container: JsonObject, list: string): readonly string[] {
  return Object.keys(objectOf(objectOf(container, "resources"), list));
}

function raise(sums: Sums, name: string, amount: Quantity | undefined): void {
  if (amount === undefined) return;
  const before = sums.get(name);
  if (before === undefined || compareQuantities(amount, before) > 0) sums.set(name, amount);
}

function isIndivisible(name: string, amount: Parameters<typeof wholeUnits>[0]): boolean {
  try {
    const size = parseQuantity(name.slice("hugepages-".length));
    if (size.unscaled <= 0n || isFractional(printQuantity(size))) return true;
    return wholeUnits(amount) % wholeUnits(printQuantity(size)) !== 0n;
  } catch (error) {
    if (error instanceof BadQuantity) return true;
    throw error;
  }
}

/** Names of the claims of a Pod. */
export function claimNames(spec: JsonObject): ReadonlySet<string> {
  if (listOf(spec, "resourceClaims").length === 0) return noClaims;
  return new Set(
    objectsOf(spec, "resourceClaims")
      .map((claim) => textOf(claim, "name"))
      .filter((name) => name !== ""),
  );
}

const noClaims: ReadonlySet<string> = new Set();
