// What the compiled Go types say, by way of the probe, checked against the published .proto files.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { readJson, type JsonObject } from "@keelson/base";

import { openApiTypeName } from "../../../packages/kube/src/kinds/type-name.ts";
import { moduleFolder, modules } from "../programs.ts";
import type { GroupVersionKind } from "./discovery.ts";
import { parseProto, type ProtoMessage } from "./proto-file.ts";
import type { RawSchema } from "./schemas.ts";

export interface GoField {
  /** Its name in JSON; empty for an inlined struct. */
  readonly name: string;
  readonly proto?: string;
  readonly number?: number;
  readonly type: string;
  readonly always?: boolean;
  readonly inline?: boolean;
  /** The type with Go's names; of a named list or map also what it is: `v1.ResourceList=map[…]…`. */
  readonly go: string;
}

export interface GoType {
  readonly fields?: readonly GoField[];
  readonly opaque?: boolean;
  readonly element?: string;
}

export interface Defaulted {
  readonly kind: GroupVersionKind;
  readonly path: string;
  readonly type: string;
  readonly added?: Readonly<Record<string, unknown>>;
  readonly when?: readonly {
    readonly field: string;
    readonly value: unknown;
    readonly added: Readonly<Record<string, unknown>>;
  }[];
}

export interface ProbeAnswers {
  readonly types: Readonly<Record<string, GoType>>;
  readonly kinds: readonly string[];
  readonly defaults: readonly Defaulted[];
  /** Every place that was probed, by the type there. */
  readonly places: Readonly<Record<string, readonly string[]>>;
  /** The structs that messages of validation show, by name. */
  readonly internal: Readonly<Record<string, readonly InternalField[]>>;
}

export interface InternalField {
  /** As the real server prints it. */
  readonly printed: string;
  /** The member that clients send; empty if there is none of that name. */
  readonly member: string;
  readonly type: string;
  /** Not printed if it is zero. */
  readonly omits?: boolean;
}

/**
 * Builds and runs the probe for these kinds. Type names in the answers are those of OpenAPI.
 *
 * With `-trimpath`, like the oracle itself: the compiler then has all packages already.
 */
export function probe(
  kinds: readonly GroupVersionKind[],
  schemas: ReadonlyMap<string, RawSchema>,
): ProbeAnswers {
  const enums: Record<string, Record<string, readonly unknown[]>> = {};
  for (const [name, schema] of schemas) {
    const properties = (schema["properties"] ?? {}) as Record<string, RawSchema>;
    for (const [property, { enum: values }] of Object.entries(properties)) {
      if (Array.isArray(values))
        (enums[openApiTypeName(name)] ??= {})[property] = values as unknown[];
    }
  }
  for (const [field, values] of Object.entries(samples)) {
    const dot = field.lastIndexOf(".");
    (enums[openApiTypeName(field.slice(0, dot))] ??= {})[field.slice(dot + 1)] = values;
  }
  const answers = ask({ kinds, enums }) as ProbeAnswers;
  checkProto(answers.types);
  return answers;
}

/** Each object in protobuf, as the real server would send it, base64. */
export function encodeObjects(objects: readonly unknown[]): readonly string[] {
  return (ask({ encode: objects }) as { encoded: string[] }).encoded;
}

export interface FilledObject {
  /** With every field set that can be. */
  readonly object: Readonly<Record<string, unknown>>;
  /** The same object, base64. */
  readonly protobuf: string;
}

/** For each kind an object with everything in it, in JSON and in protobuf. */
export function fillObjects(kinds: readonly GroupVersionKind[]): readonly FilledObject[] {
  return (ask({ fill: kinds }) as { filled: FilledObject[] }).filled;
}

export interface SentBody {
  readonly kind: GroupVersionKind;
  readonly text: string;
}

export interface DecodedBody {
  /** Printed after decoding alone. */
  readonly object?: JsonObject;
  /** With defaults, stored and read again. */
  readonly stored?: JsonObject;
  /** What a strict decoder says besides. */
  readonly strict: readonly string[];
  /** Instead of all that. */
  readonly error?: string;
}

/** What the compiled server makes of bodies before it admits them. Numbers are kept as they are written. */
export function decodeBodies(bodies: readonly SentBody[]): readonly DecodedBody[] {
  const { decoded } = readJson(askText({ decode: bodies })) as unknown as {
    readonly decoded: readonly Partial<DecodedBody>[];
  };
  return decoded.map((one) => ({ strict: [], ...one }));
}

function ask(questions: unknown): unknown {
  return JSON.parse(askText(questions));
}

function askText(questions: unknown): string {
  return go(["run", "-trimpath", "./probe"], JSON.stringify(questions));
}

/** Strings that make a difference, although OpenAPI does not list them. */
const samples: Readonly<Record<string, readonly string[]>> = {
  "rbac.v1.Subject.kind": ["User", "Group", "ServiceAccount"],
  "core.v1.Container.image": ["x", "x:1", "x:latest", "x@sha256:0"],
  "core.v1.EphemeralContainer.image": ["x", "x:1", "x:latest", "x@sha256:0"],
  "core.v1.ImageVolumeSource.reference": ["x", "x:1", "x:latest", "x@sha256:0"],
};

function go(arguments_: readonly string[], input: string): string {
  const kubernetes = modules.find(({ name }) => name === "kubernetes");
  if (kubernetes === undefined) throw new Error("no module called kubernetes");
  return execFileSync("go", arguments_, {
    cwd: moduleFolder(kubernetes),
    env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off" },
    input,
    encoding: "utf8",
    maxBuffer: 512 << 20,
    stdio: ["pipe", "pipe", "inherit"],
  });
}

/** Every field that travels must have, in `generated.proto`, the same number, name and type. */
function checkProto(types: ProbeAnswers["types"]): void {
  const folders = JSON.parse(
    `[${go(["list", "-m", "-f", '{{printf "%q" .Dir}}', ...protoModules], "")
      .trim()
      .split("\n")
      .join(",")}]`,
  ) as string[];
  const files = new Map<string, ReadonlyMap<string, ProtoMessage>>();
  const problems: string[] = [];
  for (const [name, type] of Object.entries(types)) {
    if (handWritten.has(name)) continue;
    const dot = name.lastIndexOf(".");
    const module = protoModules.findIndex((path) => name.startsWith(`${dotted(path)}.`));
    const folder = folders[module];
    const path = protoModules[module];
    if (folder === undefined || path === undefined) throw new Error(`no module holds ${name}`);
    const inside = name.slice(dotted(path).length + 1, dot).replaceAll(".", "/");
    const file = join(folder, inside, "generated.proto");
    if (!files.has(file)) {
      files.set(file, existsSync(file) ? parseProto(readFileSync(file, "utf8")) : new Map());
    }
    problems.push(...differences(name, type, files.get(file)?.get(name.slice(dot + 1))));
  }
  if (problems.length > 0) throw new Error(`not as in the .proto files:\n${problems.join("\n")}`);
}

function* differences(
  name: string,
  type: GoType,
  message: ProtoMessage | undefined,
): Generator<string> {
  const travelling = type.fields?.filter(({ number }) => number !== undefined) ?? [];
  if (message === undefined) {
    if (travelling.length > 0) yield `${name} has numbers but is no message`;
    return;
  }
  if (type.element !== undefined) return;
  for (const field of travelling) {
    const there = message.get(field.number ?? 0);
    const label = `${name}.${field.name || field.proto}`;
    if (there === undefined) yield `${label} has number ${field.number}, which is not there`;
    else if (field.proto !== undefined && there.name !== field.proto)
      yield `${label} is called ${there.name}`;
    else if (there.type !== protoTypeOf(field.type)) {
      yield `${label} is ${there.type}, not ${protoTypeOf(field.type)}`;
    }
  }
  if (message.size !== travelling.length) yield `${name} has ${message.size} fields`;
}

/** A Go type as `generated.proto` writes it, packages left out. */
function protoTypeOf(type: string): string {
  if (type.startsWith("*")) return protoTypeOf(type.slice(1));
  if (type.startsWith("[]")) return `repeated ${protoTypeOf(type.slice(2))}`;
  const map = /^map\[string\](.*)$/.exec(type)?.[1];
  if (map !== undefined) return `map<string, ${protoTypeOf(map)}>`;
  if (type === "float64") return "double";
  if (type === "uint8" || type === "int") return "int32";
  return type.slice(type.lastIndexOf(".") + 1);
}

function dotted(path: string): string {
  const [domain = "", ...rest] = path.split("/");
  return [...domain.split(".").toReversed(), ...rest].join(".");
}

const protoModules = [
  "k8s.io/api",
  "k8s.io/apimachinery",
  "k8s.io/apiextensions-apiserver",
  "k8s.io/kube-aggregator",
];

const machinery = "io.k8s.apimachinery.pkg";

/** Their protobuf form is not that of their Go fields. */
const handWritten = new Set([
  `${machinery}.apis.meta.v1.Time`,
  `${machinery}.apis.meta.v1.MicroTime`,
  `${machinery}.apis.meta.v1.Duration`,
  `${machinery}.api.resource.Quantity`,
]);
