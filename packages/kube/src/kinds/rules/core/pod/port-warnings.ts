// Ports of a Pod's containers that get in each other's way.

import type { JsonObject } from "@keelson/base";

import { quote } from "../../../../go-text/quote.ts";
import { numberOf, objectsOf, textOf } from "../../../../object/members.ts";
import { allContainers } from "./each-container.ts";

interface PlacedPort {
  readonly path: string;
  readonly port: JsonObject;
}

/** What to say of the ports; `at` is the path of the spec. */
export function* portWarnings(spec: JsonObject, at: string): Iterable<string> {
  const ports = allContainers(spec).flatMap(({ container, list, index }) =>
    objectsOf(container, "ports").map((port, position) => ({
      path: `${at}.${list}[${index}].ports[${position}]`,
      port,
    })),
  );
  yield* numberWarnings(ports);
  yield* nameWarnings(ports);
}

function* numberWarnings(ports: readonly PlacedPort[]): Iterable<string> {
  const seen = new Map<string, SeenPorts>();
  for (const [index, { path, port }] of ports.entries()) {
    if (textOf(port, "hostIP") !== "" && numberOf(port, "hostPort") === 0) {
      yield `${path}: hostIP set without hostPort: ${show(port)}`;
    }
    const key = `${numberOf(port, "containerPort")}/${textOf(port, "protocol")}`;
    const others = seen.get(key) ?? new SeenPorts();
    for (const { index: before, relation } of others.related(port)) {
      yield `${path}: ${relation} port definition with ${ports[before]?.path}`;
    }
    others.add(port, index);
    seen.set(key, others);
  }
}

type Relation = "duplicate" | "overlapping" | "dangerously ambiguous";

/** Ports of one number and protocol, found by what they take of the host. */
class SeenPorts {
  readonly #all: number[] = [];
  /** By the port of the host; and by that and its address. */
  readonly #byNumber = new Map<number, number[]>();
  readonly #byBoth = new Map<string, number[]>();

  add(port: JsonObject, index: number): void {
    const [ip, number] = [textOf(port, "hostIP"), numberOf(port, "hostPort")];
    this.#all.push(index);
    append(this.#byNumber, number, index);
    append(this.#byBoth, `${number}/${ip}`, index);
  }

  /** The ports that this one gets in the way of, in their order. */
  related(port: JsonObject): readonly { readonly index: number; readonly relation: Relation }[] {
    const [ip, number] = [textOf(port, "hostIP"), numberOf(port, "hostPort")];
    const found = new Map<number, Relation>();
    const note = (indexes: readonly number[] | undefined, relation: Relation): void => {
      for (const index of indexes ?? []) found.set(index, relation);
    };
    // What is said last counts.
    if (number !== 0 && ip === "") note(this.#byNumber.get(number), "dangerously ambiguous");
    if (number !== 0 && ip !== "") note(this.#byBoth.get(`${number}/`), "dangerously ambiguous");
    note(number === 0 ? this.#all : this.#byNumber.get(0), "overlapping");
    note(this.#byBoth.get(`${number}/${ip}`), "duplicate");
    return [...found]
      .map(([index, relation]) => ({ index, relation }))
      .sort((a, b) => a.index - b.index);
  }
}

function append<Key>(lists: Map<Key, number[]>, key: Key, index: number): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [index]);
  else list.push(index);
}

function* nameWarnings(ports: readonly PlacedPort[]): Iterable<string> {
  const first = new Map<string, string>();
  for (const { path, port } of ports) {
    const name = textOf(port, "name");
    const other = first.get(name);
    if (name === "" || other === undefined) first.set(name, path);
    else {
      yield `${path}: duplicate port name ${quote(name)} with ${other}, services and probes that select ports by name will use ${other}`;
    }
  }
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
