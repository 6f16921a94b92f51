// What a Service was given, and what a client need not repeat.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  has,
  numberOf,
  objectsOf,
  textOf,
  textsOf,
  writableObjects,
} from "../../../object/members.ts";
import { needsHealthCheck } from "./service-type.ts";

/** Gives back addresses and ports that an update leaves out, and brings the address and the list of addresses together. */
export function keepAllocated(spec: MutableJsonObject, old: JsonObject): void {
  if (textOf(spec, "type") !== "ExternalName" && textOf(old, "type") !== "ExternalName") {
    if (textOf(spec, "clusterIP") === "" && has(old, "clusterIP")) {
      spec["clusterIP"] = textOf(old, "clusterIP");
    }
    if (!has(spec, "clusterIPs") && has(old, "clusterIPs")) {
      spec["clusterIPs"] = [...textsOf(old, "clusterIPs")];
    }
  }
  if (hasNodePorts(spec) && hasNodePorts(old)) keepNodePorts(spec, old);
  const isChecked = needsHealthCheck(spec) && needsHealthCheck(old);
  if (isChecked && numberOf(spec, "healthCheckNodePort") === 0 && has(old, "healthCheckNodePort")) {
    spec["healthCheckNodePort"] = numberOf(old, "healthCheckNodePort");
  }
  bringTogether(spec, old);
}

function hasNodePorts(spec: JsonObject): boolean {
  const type = textOf(spec, "type");
  const isAllocated = memberOf(spec, "allocateLoadBalancerNodePorts") !== false;
  return type === "NodePort" || (type === "LoadBalancer" && isAllocated);
}

function keepNodePorts(spec: MutableJsonObject, old: JsonObject): void {
  const before = objectsOf(old, "ports");
  const now = new Set(objectsOf(spec, "ports").map((port) => numberOf(port, "nodePort")));
  const byName = new Map(before.map((port) => [textOf(port, "name"), numberOf(port, "nodePort")]));
  for (const port of writableObjects(spec, "ports")) {
    const known = byName.get(textOf(port, "name")) ?? 0;
    if (numberOf(port, "nodePort") === 0 && known !== 0 && !now.has(known))
      port["nodePort"] = known;
  }
}

/** An old client knows one address only. */
function bringTogether(spec: MutableJsonObject, old: JsonObject): void {
  const [address, before] = [textOf(spec, "clusterIP"), textOf(old, "clusterIP")];
  const [all, allBefore] = [textsOf(spec, "clusterIPs"), textsOf(old, "clusterIPs")];
  if (allBefore.length > 0 && all.length === 0 && address === before) {
    spec["clusterIPs"] = [...allBefore];
  }
  const isSameList = all.length === allBefore.length && all.every((own, i) => own === allBefore[i]);
  if (address === before || !isSameList) return;
  if (address === "") delete spec["clusterIPs"];
  else spec["clusterIPs"] = [address];
}
