// What is right in a Service but perhaps not meant.

import type { JsonObject } from "@keelson/base";

import {
  annotationsOf,
  has,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
} from "../../../object/members.ts";
import { addressWarnings, networkWarnings } from "../addresses.ts";
import { isStatusChange } from "../workloads.ts";

export const hintsKey = "service.kubernetes.io/topology-aware-hints";
export const modeKey = "service.kubernetes.io/topology-mode";

export function serviceWarnings(
  service: JsonObject,
  old: JsonObject | undefined,
): readonly string[] {
  const spec = objectOf(service, "spec");
  const said: string[] = [];
  if (isStatusChange(service, old)) {
    const ingress = objectsOf(objectOf(objectOf(service, "status"), "loadBalancer"), "ingress");
    return ingress.flatMap((own, index) =>
      textOf(own, "ip") === ""
        ? []
        : addressWarnings(textOf(own, "ip"), `status.loadBalancer.ingress[${index}]`),
    );
  }
  if (has(annotationsOf(service), hintsKey)) {
    said.push(`annotation ${hintsKey} is deprecated, please use ${modeKey} instead`);
  }
  const [type, clusterIp] = [textOf(spec, "type"), textOf(spec, "clusterIP")];
  if (clusterIp !== "" && clusterIp !== "None") {
    for (const [index, address] of textsOf(spec, "clusterIPs").entries()) {
      said.push(...addressWarnings(address, `spec.clusterIPs[${index}]`));
    }
  }
  const external = textsOf(spec, "externalIPs");
  const isNone = type === "ClusterIP" && clusterIp === "None";
  if (isNone) {
    if (has(spec, "loadBalancerIP"))
      said.push("spec.loadBalancerIP is ignored for headless services");
    if (external.length > 0) said.push("spec.externalIPs is ignored for headless services");
    if (textOf(spec, "sessionAffinity") !== "None") {
      said.push("spec.SessionAffinity is ignored for headless services");
    }
  }
  for (const [index, address] of external.entries()) {
    said.push(...addressWarnings(address, `spec.externalIPs[${index}]`));
  }
  if (external.length > 0 && !isNone && type !== "ExternalName") {
    said.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  const balancer = textOf(spec, "loadBalancerIP");
  if (balancer !== "") said.push(...addressWarnings(balancer, "spec.loadBalancerIP"));
  for (const [index, range] of textsOf(spec, "loadBalancerSourceRanges").entries()) {
    said.push(...networkWarnings(range, `spec.loadBalancerSourceRanges[${index}]`));
  }
  if (type === "ExternalName" && external.length > 0) {
    said.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (type !== "ExternalName" && textOf(spec, "externalName") !== "") {
    said.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (textOf(spec, "trafficDistribution") === "PreferClose") {
    said.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return said;
}
