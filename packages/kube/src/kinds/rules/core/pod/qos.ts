// How well a Pod is treated when a node runs short.

import type { JsonObject } from "@keelson/base";

import { memberOf } from "../../../../object/member.ts";
import { maybeObject, objectOf, objectsOf } from "../../../../object/members.ts";
import {
  addQuantities,
  compareQuantities,
  quantityFromJson,
  type Quantity,
} from "../../../../quantity/quantity.ts";
import { signOf } from "../../amounts.ts";

type QosClass = "BestEffort" | "Burstable" | "Guaranteed";

/** The class of a Pod: by its own resources if it has some, else by those of its containers. */
export function qosClass(spec: JsonObject): QosClass {
  const own = maybeObject(spec, "resources");
  const holders =
    own === undefined
      ? ["containers", "initContainers"].flatMap((list) =>
          objectsOf(spec, list).map((container) => objectOf(container, "resources")),
        )
      : [own];
  const requests = new Map<string, Quantity>();
  const limits = new Map<string, Quantity>();
  let isGuaranteed = true;
  for (const holder of holders) {
    add(requests, objectOf(holder, "requests"));
    const found = add(limits, objectOf(holder, "limits"));
    const isAskedOf = own === undefined || Object.keys(objectOf(holder, "limits")).length > 0;
    if (isAskedOf && found < computeResources.length) isGuaranteed = false;
  }
  if (requests.size === 0 && limits.size === 0) return "BestEffort";
  const isEqual = [...requests].every(([name, amount]) => {
    const limit = limits.get(name);
    return limit !== undefined && compareQuantities(limit, amount) === 0;
  });
  return isGuaranteed && isEqual && requests.size === limits.size ? "Guaranteed" : "Burstable";
}

const computeResources = ["cpu", "memory"];

/** Adds amounts above zero; gives how many there were. */
function add(sums: Map<string, Quantity>, amounts: JsonObject): number {
  let count = 0;
  for (const name of computeResources) {
    const amount = memberOf(amounts, name);
    if (amount === undefined || amount === null || signOf(amount) <= 0) continue;
    count += 1;
    const quantity = quantityFromJson(amount);
    const before = sums.get(name);
    sums.set(name, before === undefined ? quantity : addQuantities(before, quantity));
  }
  return count;
}
