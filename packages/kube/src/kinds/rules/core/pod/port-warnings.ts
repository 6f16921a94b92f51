// Ports of a Pod's containers that get in each other's way.

import type { JsonObject } from "@keelson/base";

import { quote } from "../../../../go-text/quote.ts";
import { numberOf, objectsOf, textOf } from "../../members.ts";
import { allContainers } from "./each-container.ts";

interface PlacedPort {
  readonly path: string;
  readonly port: JsonObject;
}

/** What to say of the ports; `at` is the path of the spec. */
export function portWarnings(spec: JsonObject, at: string): readonly string[] {
  const ports = allContainers(spec).flatMap(({ container, list, index }) =>
    objectsOf(container, "ports").map((port, position) => ({
      path: `${at}.${list}[${index}].ports[${position}]`,
      port,
    })),
  );
  return [...numberWarnings(ports), ...nameWarnings(ports)];
}

function numberWarnings(ports: readonly PlacedPort[]): readonly string[] {
  const warnings: string[] = [];
  const seen = new Map<string, PlacedPort[]>();
  for (const placed of ports) {
    const { path, port } = placed;
    if (textOf(port, "hostIP") !== "" && numberOf(port, "hostPort") === 0) {
      warnings.push(`${path}: hostIP set without hostPort: ${show(port)}`);
    }
    const key = `${numberOf(port, "containerPort")}/${textOf(port, "protocol")}`;
    const others = seen.get(key) ?? [];
    for (const other of others) {
      const relation = relationOf(port, other.port);
      if (relation !== undefined) {
        warnings.push(`${path}: ${relation} port definition with ${other.path}`);
      }
    }
    seen.set(key, [...others, placed]);
  }
  return warnings;
}

function relationOf(
  port: JsonObject,
  other: JsonObject,
): "duplicate" | "overlapping" | "dangerously ambiguous" | undefined {
  const [ip, otherIp] = [textOf(port, "hostIP"), textOf(other, "hostIP")];
  const [number, otherNumber] = [numberOf(port, "hostPort"), numberOf(other, "hostPort")];
  if (ip === otherIp && number === otherNumber) return "duplicate";
  if (number === 0 || otherNumber === 0) return "overlapping";
  const isOneAny = (ip === "") !== (otherIp === "");
  return number === otherNumber && isOneAny ? "dangerously ambiguous" : undefined;
}

function nameWarnings(ports: readonly PlacedPort[]): readonly string[] {
  const first = new Map<string, string>();
  return ports.flatMap(({ path, port }) => {
    const name = textOf(port, "name");
    const other = first.get(name);
    if (name === "" || other === undefined) {
      first.set(name, path);
      return [];
    }
    return [
      `${path}: duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`,
    ];
  });
}

/** The port as Go prints a struct with its names. */
function show(port: JsonObject): string {
  const members = [
    `Name:${textOf(port, "name")}`,
    `HostPort:${numberOf(port, "hostPort")}`,
    `ContainerPort:${numberOf(port, "containerPort")}`,
    `Protocol:${textOf(port, "protocol")}`,
    `HostIP:${textOf(port, "hostIP")}`,
  ];
  return `{${members.join(" ")}}`;
}
