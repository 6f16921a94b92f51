// Bodies sent to the real server as creations that are not stored, and decoded by our rules.

import {
  isJsonObject,
  readJsonReport,
  type Json,
  type JsonObject,
  type MutableJsonObject,
  type Random,
} from "@keelson/base";
import {
  decodeFailureMessage,
  strictFailureMessage,
  typedKind,
  TypedDecodeError,
  type BuiltinKind,
  type BuiltinKinds,
  type TypedKind,
} from "@keelson/kube";

import type { Answer, Laboratory } from "../differential.ts";
import { collectionPath } from "../kinds/paths.ts";
import type { Trial } from "../trials.ts";
import { writeBody } from "./body-text.ts";
import { changedExample } from "./changed-example.ts";
import { withoutServerFields } from "./server-fields.ts";

const fieldValidations = ["Ignore", "Warn", "Strict"] as const;

/** The namespace that the examples name. */
const exampleNamespace = "minimal";

export interface ServedOptions {
  /** A server with the flags `everyKind`. */
  readonly laboratory: Laboratory;
  readonly kinds: BuiltinKinds;
  readonly examples: Readonly<Record<string, { readonly sent: JsonObject }>>;
}

/** Compares creations of built-in kinds. */
export class ServedComparison {
  readonly #laboratory: Laboratory;
  readonly #kinds: BuiltinKinds;
  readonly #examples: Readonly<Record<string, { readonly sent: JsonObject }>>;
  readonly #stored: readonly BuiltinKind[];
  readonly #typed = new Map<BuiltinKind, TypedKind>();

  private constructor({ laboratory, kinds, examples }: ServedOptions) {
    this.#laboratory = laboratory;
    this.#kinds = kinds;
    this.#examples = examples;
    this.#stored = kinds.all.filter((kind) => Object.hasOwn(examples, nameOf(kind)));
  }

  /** Makes the namespace of the examples. */
  static async open(options: ServedOptions, signal: AbortSignal): Promise<ServedComparison> {
    const metadata = { name: exampleNamespace };
    const body = { apiVersion: "v1", kind: "Namespace", metadata };
    await options.laboratory.must({ method: "POST", path: "/api/v1/namespaces", body }, signal);
    return new ServedComparison(options);
  }

  /** How many kinds there are. */
  get kinds(): number {
    return this.#stored.length;
  }

  /** Each kind in turn. */
  async run(random: Random, index: number, signal: AbortSignal): Promise<Trial> {
    const kind = this.#stored[index % this.#stored.length];
    if (kind === undefined) throw new Error("no kind is stored");
    const example = this.#examples[nameOf(kind)]?.sent ?? {};
    const body = changedExample({ kinds: this.#kinds, kind, example, random });
    const text = writeBody(body, random, random.pick([0, 0, 0.05]));
    const validation = random.pick(fieldValidations);
    const answer = await this.#send(kind, { text, validation }, signal);
    const typed = this.#typedOf(kind);
    const ours = outcome(typed, kind, { text, validation });
    const trial = { kind: nameOf(kind), operation: validation };
    if (answer === undefined) {
      return { ...trial, accepted: false, oracle: undefined, ours, context: { text } };
    }
    const oracle = answerOf(typed, kind, answer);
    return {
      ...trial,
      accepted: answer.isAccepted,
      oracle,
      // An object that is refused for what it says shows nothing of how it was read.
      ours: isOtherRefusal(answer) && !("refused" in ours) ? oracle : ours,
      context: { text, answer: answer.text.slice(0, 2_000) },
    };
  }

  /** Undefined if the real server gives up without an answer. */
  async #send(
    kind: BuiltinKind,
    { text, validation }: Sent,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const path = `${collectionOf(kind)}?dryRun=All&fieldValidation=${validation}`;
    try {
      return await this.#laboratory.send({ method: "POST", path, body: text }, signal);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ECONNRESET")
        return undefined;
      throw error;
    }
  }

  #typedOf(kind: BuiltinKind): TypedKind {
    const known = this.#typed.get(kind);
    if (known !== undefined) return known;
    const made = typedKind(this.#kinds, kind);
    this.#typed.set(kind, made);
    return made;
  }
}

function nameOf({ group, version, kind }: BuiltinKind): string {
  return `${group}/${version}/${kind}`;
}

function collectionOf(kind: BuiltinKind): string {
  return collectionPath(kind, kind.isNamespaced ? exampleNamespace : undefined);
}

interface Sent {
  readonly text: string;
  readonly validation: (typeof fieldValidations)[number];
}

function outcome(typed: TypedKind, kind: BuiltinKind, { text, validation }: Sent): JsonObject {
  try {
    const report = readJsonReport(text);
    if (!isJsonObject(report.value)) throw new Error("no body");
    const { object, problems } = typed.decode(report.value, report);
    typed.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
    if (validation === "Strict" && problems.length > 0) {
      return { refused: strictFailureMessage(problems, kind) };
    }
    typed.toStored(object);
    return {
      object: withoutServerFields(kind, object),
      warnings: validation === "Warn" ? problems : [],
    };
  } catch (error) {
    if (error instanceof TypedDecodeError) return { refused: decodeFailureMessage(error, kind) };
    throw error;
  }
}

function answerOf(
  typed: TypedKind,
  kind: BuiltinKind,
  { body, isAccepted, warnings }: Answer,
): JsonObject {
  if (!isJsonObject(body)) return { refused: null };
  if (!isAccepted) return { refused: body["message"] ?? null };
  const object = body as MutableJsonObject;
  typed.toStored(object);
  // Headers are bytes; Node reads each as a character.
  const texts = warnings.map((warning) => Buffer.from(warning, "latin1").toString("utf8"));
  const said = texts.filter((warning) => /^(?:unknown|duplicate) field/.test(warning));
  return { object: withoutServerFields(kind, object), warnings: said };
}

function isOtherRefusal({ isAccepted, body }: Answer): boolean {
  if (isAccepted) return false;
  const message: Json | undefined = isJsonObject(body) ? body["message"] : undefined;
  return typeof message !== "string" || !message.includes(" cannot be handled as a ");
}
