// The spec of a Service, as far as its addresses and ports are concerned.

import { isIP } from "node:net";

import {
  isJsonArray,
  isJsonObject,
  jsonEqual,
  type Json,
  type JsonObject,
  type MutableJson,
  type MutableJsonObject,
} from "@keelson/base";
import { clusterIpProblems, failures, type FieldError } from "@keelson/kube";

import { objectAt, textAt } from "../fields.ts";
import { nameOf } from "../object-metadata.ts";

/** A client that says one of the two fields means both. */
export function copyClusterIp(spec: MutableJsonObject, before: JsonObject | undefined): void {
  const one = textAt(spec, "clusterIP");
  const all = listAt(spec, "clusterIPs");
  if (before === undefined) {
    if (one !== "" && all.length === 0) spec["clusterIPs"] = [one];
    return;
  }
  const had = textAt(before, "clusterIP");
  if (listAt(before, "clusterIPs").length > 0 && all.length === 0 && had === one) {
    spec["clusterIPs"] = [...listAt(before, "clusterIPs")] as MutableJson[];
  }
  if (had === one) return;
  const isSameList = jsonEqual(listAt(before, "clusterIPs"), listAt(spec, "clusterIPs"));
  if (had !== "" && one === "") {
    if (isSameList) delete spec["clusterIPs"];
  } else if (isSameList) {
    spec["clusterIPs"] = [one];
  }
}

/** What a client left out stays as it is. */
export function keepAllocated(spec: MutableJsonObject, before: JsonObject): void {
  if (needsClusterIp(before) && needsClusterIp(spec)) {
    if (textAt(spec, "clusterIP") === "" && textAt(before, "clusterIP") !== "") {
      spec["clusterIP"] = textAt(before, "clusterIP");
    }
    if (listAt(spec, "clusterIPs").length === 0 && listAt(before, "clusterIPs").length > 0) {
      spec["clusterIPs"] = [...listAt(before, "clusterIPs")] as MutableJson[];
    }
  }
  const areGiven = [before, spec].every((own) => needsNodePort(own) && allocatesNodePorts(own));
  if (areGiven) {
    const old = listAt(before, "ports").filter(isJsonObject);
    const now = listAt(spec, "ports").filter(isJsonObject) as MutableJsonObject[];
    const used = new Set(now.map((port) => port["nodePort"]));
    const byName = new Map(old.map((port) => [textAt(port, "name"), port["nodePort"]]));
    for (const port of now) {
      if (port["nodePort"] !== undefined) continue;
      const known = byName.get(textAt(port, "name"));
      if (typeof known === "number" && !used.has(known)) port["nodePort"] = known;
    }
  }
  if (needsHealthCheck(before) && needsHealthCheck(spec)) {
    const known = before["healthCheckNodePort"];
    if (spec["healthCheckNodePort"] === undefined && typeof known === "number") {
      spec["healthCheckNodePort"] = known;
    }
  }
}

/** The families of a cluster that has one. */
export function initFamilies(
  service: MutableJsonObject,
  spec: MutableJsonObject,
  before: JsonObject | undefined,
): void {
  if (textAt(spec, "type") === "ExternalName") return;
  const isHeadless = textAt(spec, "clusterIP") === "None";
  const isSelectorless = Object.keys(objectAt(spec, "selector")).length === 0;
  if (spec["ipFamilyPolicy"] === undefined) {
    const old = before === undefined ? "" : textAt(before, "ipFamilyPolicy");
    spec["ipFamilyPolicy"] =
      old !== "" ? old : isHeadless && isSelectorless ? "RequireDualStack" : "SingleStack";
  }
  const malformed = clusterIpProblems(spec, before);
  if (malformed.length > 0) throw invalid(service, malformed);
  const policy = textAt(spec, "ipFamilyPolicy");
  const families = listAt(spec, "ipFamilies").filter((one) => typeof one === "string");
  const errors: FieldError[] = [];
  if (policy === "SingleStack" && listAt(spec, "clusterIPs").length === 2) {
    errors.push(
      policyError(
        policy,
        "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified",
      ),
    );
  }
  if (policy === "SingleStack" && families.length === 2) {
    errors.push(
      policyError(
        policy,
        "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified",
      ),
    );
  }
  errors.push(...foreignAddresses(spec, families.length));
  if (errors.length > 0) throw invalid(service, errors);
  if (isHeadless && isSelectorless) {
    const [first = "IPv4"] = families;
    const other = first === "IPv4" ? "IPv6" : "IPv4";
    const isBoth = policy !== "SingleStack" || families.length === 2;
    spec["ipFamilies"] = isBoth ? [first, families[1] ?? other] : [first];
    return;
  }
  if (policy === "RequireDualStack") {
    errors.push(policyError(policy, "this cluster is not configured for dual-stack services"));
  }
  for (const [index, family] of families.entries()) {
    if (family === "IPv4") continue;
    errors.push({
      type: "FieldValueInvalid",
      field: `spec.ipFamilies[${index}]`,
      value: family,
      detail: "not configured on this cluster",
    });
  }
  if (errors.length > 0) throw invalid(service, errors);
  if (families.length === 0) spec["ipFamilies"] = ["IPv4"];
}

/** Addresses whose family nobody has named and the cluster does not have. */
function foreignAddresses(spec: JsonObject, familiesNamed: number): readonly FieldError[] {
  const addresses = listAt(spec, "clusterIPs");
  if (addresses[0] === "None") return [];
  return addresses.flatMap((address, index): FieldError[] => {
    const isForeign = typeof address === "string" && isIP(address) === 6;
    if (index < familiesNamed || !isForeign) return [];
    const field = `spec.clusterIPs[${index}]`;
    const detail = "IPv6 is not configured on this cluster";
    return [{ type: "FieldValueInvalid", field, value: addresses, detail }];
  });
}

function policyError(policy: string, detail: string): FieldError {
  return { type: "FieldValueInvalid", field: "spec.ipFamilyPolicy", value: policy, detail };
}

export function clusterIpsError(spec: JsonObject, detail: string): FieldError {
  const value = listAt(spec, "clusterIPs");
  return { type: "FieldValueInvalid", field: "spec.clusterIPs", value, detail };
}

export function nodePortError(index: number, port: number, detail: string): FieldError {
  const field = `spec.ports[${index}].nodePort`;
  return { type: "FieldValueInvalid", field, value: port, detail };
}

export function invalid(service: JsonObject, errors: readonly FieldError[]): Error {
  return failures.invalid({ group: "", kind: "Service" }, nameOf(service), errors);
}

export function requestedFor(
  ports: readonly MutableJsonObject[],
  number: Json | undefined,
): number {
  const found = ports.find((port) => port["port"] === number && port["nodePort"] !== undefined);
  return typeof found?.["nodePort"] === "number" ? found["nodePort"] : 0;
}

export function needsClusterIp(spec: JsonObject): boolean {
  return ["ClusterIP", "NodePort", "LoadBalancer"].includes(textAt(spec, "type"));
}

export function needsNodePort(spec: JsonObject): boolean {
  return ["NodePort", "LoadBalancer"].includes(textAt(spec, "type"));
}

export function allocatesNodePorts(spec: JsonObject): boolean {
  return textAt(spec, "type") === "NodePort" || spec["allocateLoadBalancerNodePorts"] !== false;
}

export function needsHealthCheck(spec: JsonObject): boolean {
  return (
    textAt(spec, "type") === "LoadBalancer" && textAt(spec, "externalTrafficPolicy") === "Local"
  );
}

/** The addresses that a Service has taken. */
export function addressesOf(spec: JsonObject): readonly string[] {
  return listAt(spec, "clusterIPs").filter(
    (address): address is string => typeof address === "string" && address !== "None",
  );
}

/** The nodes' ports that a Service has taken. */
export function portsOf(spec: JsonObject): readonly number[] {
  const ports = listAt(spec, "ports")
    .filter(isJsonObject)
    .map((port) => port["nodePort"]);
  return [...ports, spec["healthCheckNodePort"]].filter(
    (port): port is number => typeof port === "number" && port !== 0,
  );
}

/** The ports of a spec that belongs to the caller. */
export function ownPorts(spec: MutableJsonObject): readonly MutableJsonObject[] {
  const { ports } = spec;
  return isJsonArray(ports)
    ? ports.filter((port): port is MutableJsonObject => isJsonObject(port))
    : [];
}

export function specOf(service: MutableJsonObject): MutableJsonObject {
  const spec = service["spec"];
  if (isJsonObject(spec)) return spec;
  const made: MutableJsonObject = {};
  service["spec"] = made;
  return made;
}

function listAt(object: JsonObject, name: string): readonly Json[] {
  const value = object[name];
  return isJsonArray(value) ? value : [];
}
