// What a Service has because of its type, and what becomes of it when the type changes.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { memberOf } from "../../../object/member.ts";
import {
  listOf,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  writableObject,
  writableObjects,
} from "../../../object/members.ts";
import { semanticEqual } from "../semantic-equal.ts";

/** A client that changes the type need not know what else goes with it: what it left as it was is dropped. */
export function dropTypeDependentFields(service: MutableJsonObject, old: JsonObject): void {
  const spec = writableObject(service, "spec");
  if (spec === undefined) return;
  const before = objectOf(old, "spec");
  const [type, oldType] = [textOf(spec, "type"), textOf(before, "type")];
  const isSame = (...names: readonly string[]): boolean =>
    names.every((name) => semanticEqual(memberOf(spec, name), memberOf(before, name)));
  const drop = (...names: readonly string[]): void => {
    for (const name of names) delete spec[name];
  };
  if (oldType !== "ExternalName" && type === "ExternalName") {
    if (isSame("clusterIP", "clusterIPs")) drop("clusterIP", "clusterIPs");
    if (isSame("ipFamilies")) drop("ipFamilies");
    if (isSame("ipFamilyPolicy")) drop("ipFamilyPolicy");
  }
  const needsNodePort = (own: string): boolean => own === "NodePort" || own === "LoadBalancer";
  if (needsNodePort(oldType) && !needsNodePort(type)) {
    const oldPorts = new Set(objectsOf(before, "ports").map((port) => numberOf(port, "nodePort")));
    const ports = writableObjects(spec, "ports");
    const isKept = ports.every((port) => {
      const number = numberOf(port, "nodePort");
      return number === 0 || oldPorts.has(number);
    });
    if (isKept) for (const port of ports) delete port["nodePort"];
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec) && isSame("healthCheckNodePort")) {
    drop("healthCheckNodePort");
  }
  if (oldType === "LoadBalancer" && type !== "LoadBalancer") {
    if (isSame("allocateLoadBalancerNodePorts")) drop("allocateLoadBalancerNodePorts");
    if (isSame("loadBalancerClass")) drop("loadBalancerClass");
  }
  if (isExternal(before) && !isExternal(spec) && isSame("externalTrafficPolicy")) {
    drop("externalTrafficPolicy");
  }
  const status = writableObject(service, "status");
  if (type !== "LoadBalancer" && status !== undefined) status["loadBalancer"] = {};
}

/** Whether it can be reached from outside the cluster. */
export function isExternal(spec: JsonObject): boolean {
  const type = textOf(spec, "type");
  if (type === "LoadBalancer" || type === "NodePort") return true;
  return type === "ClusterIP" && listOf(spec, "externalIPs").length > 0;
}

/** Whether a load balancer must ask each node whether it has the Service. */
export function needsHealthCheck(spec: JsonObject): boolean {
  return (
    textOf(spec, "type") === "LoadBalancer" && textOf(spec, "externalTrafficPolicy") === "Local"
  );
}
