// Services: what one must be, and how it may change.

import type { JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { trimSpace } from "../../../go-text/trim-space.ts";
import {
  annotationsOf,
  has,
  maybeNumber,
  maybeObject,
  maybeText,
  numberOf,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
  writableObject,
} from "../../../object/members.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelKeyProblems,
  labelNames,
} from "../../../object/names.ts";
import type { KindRules } from "../../kind-rules.ts";
import { checkAddress, checkEndpointAddress, checkNetwork } from "../addresses.ts";
import { checkLabels } from "../label-selectors.ts";
import { Place } from "../place.ts";
import { portProblems } from "../text-problems.ts";
import { showInternal } from "../internal-form.ts";
import { protocols } from "./pod/container.ts";
import { checkPort } from "./pod/probes.ts";
import { checkLoadBalancerStatus } from "./load-balancer-status.ts";
import { checkClusterIps, checkClusterIpUpdate, isHeadless } from "./service-addresses.ts";
import { keepAllocated } from "./service-allocated.ts";
import { dropTypeDependentFields, isExternal, needsHealthCheck } from "./service-type.ts";
import { hintsKey, modeKey, serviceWarnings } from "./service-warnings.ts";

const rangesKey = "service.beta.kubernetes.io/load-balancer-source-ranges";
const types: readonly string[] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
/** Of traffic, from outside and within. */
const policies: readonly string[] = ["Cluster", "Local"];
const affinitySecondsMax = 86_400;

export const serviceRules: KindRules = {
  names: labelNames,
  prepareForCreate: (service) => {
    const spec = writableObject(service, "spec");
    const address = textOf(spec ?? {}, "clusterIP");
    if (spec === undefined || address === "" || has(spec, "clusterIPs")) return;
    spec["clusterIPs"] = [address];
  },
  prepareForUpdate: (service, old) => {
    const spec = writableObject(service, "spec");
    if (spec === undefined) return;
    keepAllocated(spec, objectOf(old, "spec"));
    dropTypeDependentFields(service, old);
    // There is no traffic to a name, and whoever reads such a Service finds none spoken of; what is wrong is refused first.
    const { internalTrafficPolicy: policy } = spec;
    const isWrong = typeof policy === "string" && !policies.includes(policy);
    if (textOf(spec, "type") === "ExternalName" && !isWrong) delete spec["internalTrafficPolicy"];
  },
  validate: (service) => {
    const at = Place.root("spec");
    // Addresses are given before anything else is judged: one that is wrong is all that is said.
    checkClusterIps(objectOf(service, "spec"), at, undefined);
    if (at.errors.length === 0) checkService(service, at, undefined);
    return at.errors;
  },
  validateUpdate: (service, old) => {
    const at = Place.root("spec");
    checkClusterIps(objectOf(service, "spec"), at, objectOf(old, "spec"));
    if (at.errors.length > 0) return at.errors;
    checkClusterIpUpdate(objectOf(service, "spec"), objectOf(old, "spec"), at);
    checkLoadBalancerClass(objectOf(service, "spec"), at, objectOf(old, "spec"));
    const ports = [service, old].map((own) => {
      const spec = objectOf(own, "spec");
      return needsHealthCheck(spec) ? numberOf(spec, "healthCheckNodePort") : undefined;
    });
    if (!ports.includes(undefined) && ports[0] !== ports[1]) {
      at.child("healthCheckNodePort").forbidden("field is immutable");
    }
    checkService(service, at, old);
    return at.errors;
  },
  validateStatusUpdate: (service, old) => {
    const at = Place.root("status").child("loadBalancer");
    const balancerOf = (own: JsonObject): JsonObject =>
      objectOf(objectOf(own, "status"), "loadBalancer");
    checkLoadBalancerStatus(balancerOf(service), at, {
      old: balancerOf(old),
      isAllowed: textOf(objectOf(service, "spec"), "type") === "LoadBalancer",
    });
    return at.errors;
  },
  warnings: serviceWarnings,
};

function checkService(service: JsonObject, at: Place, old: JsonObject | undefined): void {
  const spec = objectOf(service, "spec");
  const annotations = annotationsOf(service);
  const type = textOf(spec, "type");
  const ports = objectsOf(spec, "ports");
  checkTopologyAnnotations(annotations, at);
  if (ports.length === 0 && !isHeadless(spec) && type !== "ExternalName") {
    at.child("ports").required();
  }
  checkByType(spec, at, type);
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    checkServicePort(port, at.child("ports").item(index), { names, needsName: ports.length > 1 });
  }
  checkLabels(objectOf(spec, "selector"), at.child("selector"));
  checkSessionAffinity(spec, at);
  const existing = new Set(textsOf(objectOf(old ?? {}, "spec"), "externalIPs"));
  for (const [index, address] of textsOf(spec, "externalIPs").entries()) {
    const place = at.child("externalIPs").item(index);
    if (checkAddress(address, place, { existing })) checkEndpointAddress(address, place);
  }
  if (type === "") at.child("type").required();
  else if (!types.includes(type)) at.child("type").notSupported(type, types);
  checkPortNumbers(ports, at.child("ports"), type);
  checkSourceRanges(service, at, old);
  const allocates = has(spec, "allocateLoadBalancerNodePorts");
  if (allocates && type !== "LoadBalancer") {
    at.child("allocateLoadBalancerNodePorts").forbidden(
      "may only be used when `type` is 'LoadBalancer'",
    );
  }
  if (type === "LoadBalancer" && !allocates) {
    Place.root("allocateLoadBalancerNodePorts", at.errors).required();
  }
  checkLoadBalancerClass(spec, at, undefined);
  checkTraffic(spec, at, type);
}

function checkTopologyAnnotations(annotations: JsonObject, at: Place): void {
  const [hints, mode] = [maybeText(annotations, hintsKey), maybeText(annotations, modeKey)];
  if (hints === undefined || mode === undefined || hints === mode) return;
  Place.root("metadata", at.errors)
    .child("annotations")
    .key(modeKey)
    .invalid(mode, `must match annotations[${hintsKey}] when both are specified`);
}

function checkByType(spec: JsonObject, at: Place, type: string): void {
  if (type === "LoadBalancer" || type === "NodePort") {
    if (isHeadless(spec)) {
      at.child("clusterIPs")
        .item(0)
        .invalid("None", `may not be set to 'None' for ${type} services`);
    }
    return;
  }
  if (type !== "ExternalName") return;
  for (const name of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
    if (has(spec, name)) at.child(name).forbidden("may not be set for ExternalName services");
  }
  const name = textOf(spec, "externalName").replace(/\.$/, "");
  if (name === "") at.child("externalName").required();
  else at.child("externalName").invalidEach(name, dnsSubdomainProblems(name));
}

function checkServicePort(
  port: JsonObject,
  at: Place,
  { names, needsName }: { readonly names: Set<string>; readonly needsName: boolean },
): void {
  const name = textOf(port, "name");
  if (name !== "") {
    at.child("name").invalidEach(name, dnsLabelProblems(name));
    if (names.has(name)) at.child("name").duplicate(name);
    names.add(name);
  } else if (needsName) at.child("name").required();
  const number = numberOf(port, "port");
  at.child("port").invalidEach(number, portProblems(number));
  const protocol = textOf(port, "protocol");
  if (protocol === "") at.child("protocol").required();
  else if (!protocols.includes(protocol)) at.child("protocol").notSupported(protocol, protocols);
  checkPort(port, at, { name: "targetPort" });
  const application = maybeText(port, "appProtocol");
  if (application !== undefined) {
    at.child("appProtocol").invalidEach(application, labelKeyProblems(application));
  }
}

function checkSessionAffinity(spec: JsonObject, at: Place): void {
  const affinity = textOf(spec, "sessionAffinity");
  if (affinity === "") at.child("sessionAffinity").required();
  else if (affinity !== "ClientIP" && affinity !== "None") {
    at.child("sessionAffinity").notSupported(affinity, ["ClientIP", "None"]);
  }
  const place = at.child("sessionAffinityConfig");
  if (affinity === "None" && has(spec, "sessionAffinityConfig")) {
    place.forbidden("must not be set when session affinity is None");
  }
  if (affinity !== "ClientIP") return;
  const detail = "when session affinity type is ClientIP";
  const config = maybeObject(spec, "sessionAffinityConfig");
  const client = config && maybeObject(config, "clientIP");
  const seconds = client && maybeNumber(client, "timeoutSeconds");
  if (config === undefined) place.required(detail);
  else if (client === undefined) place.child("clientIP").required(detail);
  else if (seconds === undefined) place.child("clientIP").child("timeoutSeconds").required(detail);
  else if (seconds <= 0 || seconds > affinitySecondsMax) {
    place
      .child("clientIP")
      .child("timeoutSeconds")
      .invalid(seconds, `must be greater than 0 and less than ${affinitySecondsMax}`);
  }
}

function checkPortNumbers(ports: readonly JsonObject[], at: Place, type: string): void {
  if (type === "ClusterIP") {
    for (const [index, port] of ports.entries()) {
      if (numberOf(port, "nodePort") !== 0) {
        at.item(index).child("nodePort").forbidden("may not be used when `type` is 'ClusterIP'");
      }
    }
  }
  const nodePorts = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const number = numberOf(port, "nodePort");
    if (number === 0) continue;
    const key = `${textOf(port, "protocol")}/${number}`;
    if (nodePorts.has(key)) at.item(index).child("nodePort").duplicate(number);
    nodePorts.add(key);
  }
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const [protocol, number] = [textOf(port, "protocol"), numberOf(port, "port")];
    const key = `${protocol}/${number}`;
    if (seen.has(key)) {
      at.item(index).duplicateShown(showInternal("core.ServicePort", { protocol, port: number }));
    }
    seen.add(key);
  }
}

function checkSourceRanges(service: JsonObject, at: Place, old: JsonObject | undefined): void {
  const spec = objectOf(service, "spec");
  const isBalanced = textOf(spec, "type") === "LoadBalancer";
  const detail = "may only be used when `type` is 'LoadBalancer'";
  const ranges = textsOf(spec, "loadBalancerSourceRanges");
  if (ranges.length > 0) {
    const place = at.child("LoadBalancerSourceRanges");
    if (!isBalanced) place.forbidden(detail);
    const before = textsOf(objectOf(old ?? {}, "spec"), "loadBalancerSourceRanges");
    const existing = new Set(before.map(trimSpace));
    for (const [index, range] of ranges.entries()) {
      checkNetwork(trimSpace(range), place.item(index), { existing });
    }
    return;
  }
  const text = maybeText(annotationsOf(service), rangesKey);
  if (text === undefined) return;
  const place = Place.root("metadata", at.errors).child("annotations").key(rangesKey);
  if (!isBalanced) place.forbidden(detail);
  const isKept = old !== undefined && maybeText(annotationsOf(old), rangesKey) === text;
  if (isKept || trimSpace(text) === "") return;
  for (const range of text.split(",")) checkNetwork(trimSpace(range), place);
}

function checkLoadBalancerClass(spec: JsonObject, at: Place, old: JsonObject | undefined): void {
  const place = at.child("loadBalancerClass");
  const own = maybeText(spec, "loadBalancerClass");
  const isBalanced = textOf(spec, "type") === "LoadBalancer";
  const wasBalanced = old !== undefined && textOf(old, "type") === "LoadBalancer";
  if (isBalanced && wasBalanced && own !== maybeText(old, "loadBalancerClass")) {
    place.invalidShown(goJson(own ?? null), "may not change once set");
  }
  if (own === undefined) return;
  if (isBalanced) place.invalidEach(own, labelKeyProblems(own));
  else place.forbidden("may only be used when `type` is 'LoadBalancer'");
}

function checkTraffic(spec: JsonObject, at: Place, type: string): void {
  const external = textOf(spec, "externalTrafficPolicy");
  if (!isExternal(spec)) {
    if (external !== "") {
      at.child("externalTrafficPolicy").invalidWord(
        external,
        "may only be set for externally-accessible services",
      );
    }
  } else if (external === "") at.child("externalTrafficPolicy").required();
  else if (!policies.includes(external)) {
    at.child("externalTrafficPolicy").notSupported(external, policies);
  }
  const port = numberOf(spec, "healthCheckNodePort");
  if (!needsHealthCheck(spec)) {
    if (port !== 0) {
      at.child("healthCheckNodePort").invalid(
        port,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      );
    }
  } else if (port === 0) at.child("healthCheckNodePort").required();
  else at.child("healthCheckNodePort").invalidEach(port, portProblems(port));
  const internal = maybeText(spec, "internalTrafficPolicy");
  if (internal === undefined) {
    if (["NodePort", "LoadBalancer", "ClusterIP"].includes(type)) {
      at.child("internalTrafficPolicy").required();
    }
  } else if (!policies.includes(internal)) {
    at.child("internalTrafficPolicy").notSupported(internal, policies);
  }
  const distribution = maybeText(spec, "trafficDistribution");
  const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  if (distribution !== undefined && !distributions.includes(distribution)) {
    at.child("trafficDistribution").notSupportedText(distribution, distributions);
  }
}
