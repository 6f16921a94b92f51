// The cells of networks: Services, endpoints, Ingresses, policies.

import type { Json } from "@keelson/base";
import { compareBytes } from "../../go-text/byte-order.ts";
import {
  age,
  at,
  count,
  labelsText,
  list,
  nameOf,
  orElse,
  selectorText,
  text,
  texts,
  type CellsOf,
  type Subject,
} from "./reading.ts";

const shownMax = 3;

function withMore(shown: readonly string[], total: number, otherwise: string): string {
  const joined = shown.slice(0, shownMax).join(",");
  if (total > shownMax) return `${joined} + ${total - shownMax} more...`;
  return orElse(joined, otherwise);
}

/** Addresses of a load balancer, each once, in order. */
function balancerAddresses(object: Json): string[] {
  const addresses = list(object, "status", "loadBalancer", "ingress")
    .map((ingress) => orElse(text(ingress, "ip"), text(ingress, "hostname")))
    .filter((address) => address !== "");
  return [...new Set(addresses)].sort(compareBytes);
}

function externalAddresses({ object }: Subject): string {
  const external = texts(object, "spec", "externalIPs");
  switch (text(object, "spec", "type")) {
    case "ClusterIP":
    case "NodePort":
      return orElse(external.join(","), "<none>");
    case "LoadBalancer":
      return orElse([...balancerAddresses(object), ...external].join(","), "<pending>");
    case "ExternalName":
      return text(object, "spec", "externalName");
    default:
      return "<unknown>";
  }
}

function portText(port: Json): string {
  const node = count(port, "nodePort");
  const between = node > 0 ? `:${node}` : "";
  return `${count(port, "port")}${between}/${text(port, "protocol")}`;
}

const service: CellsOf = (subject) => {
  const { object } = subject;
  return [
    nameOf(subject),
    text(object, "spec", "type"),
    texts(object, "spec", "clusterIPs")[0] ?? "<none>",
    externalAddresses(subject),
    orElse(list(object, "spec", "ports").map(portText).join(","), "<none>"),
    age(subject),
    labelsText(at(object, "spec", "selector")),
  ];
};

const endpoints: CellsOf = (subject) => {
  const subsets = list(subject.object, "subsets");
  const all = subsets.flatMap((subset) => {
    const addresses = list(subset, "addresses").map((address) => text(address, "ip"));
    const ports = list(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) =>
      addresses.map((ip) => `${ip.includes(":") ? `[${ip}]` : ip}:${count(port, "port")}`),
    );
  });
  const cell = subsets.length === 0 ? "<none>" : withMore(all, all.length, "");
  return [nameOf(subject), cell, age(subject)];
};

const endpointSlice: CellsOf = (subject) => {
  const { object } = subject;
  const ports = list(object, "ports").map((port) => {
    const number = at(port, "port");
    return number === undefined
      ? orElse(text(port, "name"), at(port, "name") === "" ? "" : "*")
      : String(Number(number));
  });
  const addresses = list(object, "endpoints").flatMap((endpoint) => texts(endpoint, "addresses"));
  return [
    nameOf(subject),
    text(object, "addressType"),
    withMore(ports, ports.length, "<unset>"),
    withMore(addresses, addresses.length, "<unset>"),
    age(subject),
  ];
};

const ingress: CellsOf = (subject) => {
  const { object } = subject;
  const rules = list(object, "spec", "rules");
  return [
    nameOf(subject),
    orElse(text(object, "spec", "ingressClassName"), "<none>"),
    hostsText(rules),
    balancerAddresses(object).join(","),
    list(object, "spec", "tls").length > 0 ? "80, 443" : "80",
    age(subject),
  ];
};

function hostsText(rules: readonly Json[]): string {
  const shown: string[] = [];
  let hasMore = false;
  for (const rule of rules) {
    if (shown.length === shownMax) hasMore = true;
    const host = text(rule, "host");
    if (!hasMore && host !== "") shown.push(host);
  }
  if (shown.length === 0) return "*";
  const joined = shown.join(",");
  return hasMore ? `${joined} + ${rules.length - shownMax} more...` : joined;
}

const ingressClass: CellsOf = (subject) => {
  const { object } = subject;
  const isDefault =
    text(object, "metadata", "annotations", "ingressclass.kubernetes.io/is-default-class") ===
    "true";
  const parameters = at(object, "spec", "parameters");
  const group = at(parameters, "apiGroup");
  const suffix = typeof group === "string" ? `.${group}` : "";
  return [
    `${nameOf(subject)}${isDefault ? " (default)" : ""}`,
    text(object, "spec", "controller"),
    parameters === undefined
      ? "<none>"
      : `${text(parameters, "kind")}${suffix}/${text(parameters, "name")}`,
    age(subject),
  ];
};

const networkPolicy: CellsOf = (subject) => [
  nameOf(subject),
  orElse(selectorText(at(subject.object, "spec", "podSelector")), "<none>"),
  age(subject),
];

const serviceCidr: CellsOf = (subject) => [
  nameOf(subject),
  texts(subject.object, "spec", "cidrs").join(","),
  age(subject),
];

const ipAddress: CellsOf = (subject) => {
  const parent = at(subject.object, "spec", "parentRef");
  if (parent === undefined) return [nameOf(subject), "<none>", age(subject)];
  const group = text(parent, "group");
  const resource = text(parent, "resource");
  const namespace = text(parent, "namespace");
  const kind = (group === "" ? resource : `${resource}.${group}`).toLowerCase();
  const path = [kind, ...(namespace === "" ? [] : [namespace]), text(parent, "name")];
  return [nameOf(subject), path.join("/"), age(subject)];
};

export const networkCells: Readonly<Record<string, CellsOf>> = {
  "/Service": service,
  "/Endpoints": endpoints,
  "discovery.k8s.io/EndpointSlice": endpointSlice,
  "networking.k8s.io/Ingress": ingress,
  "networking.k8s.io/IngressClass": ingressClass,
  "networking.k8s.io/NetworkPolicy": networkPolicy,
  "networking.k8s.io/ServiceCIDR": serviceCidr,
  "networking.k8s.io/IPAddress": ipAddress,
};
