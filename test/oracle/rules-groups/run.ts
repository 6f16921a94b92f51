// One case: sent to the real server, and judged by our rules.

import {
  cloneJson,
  isJsonObject,
  writeJson,
  type Json,
  type JsonObject,
  type Random,
} from "@keelson/base";
import {
  decodeFailureMessage,
  typedKind,
  TypedDecodeError,
  type BuiltinKind,
  type BuiltinKinds,
  type TypedKind,
} from "@keelson/kube";

import type { Laboratory, Trial } from "../differential.ts";
import { isEstablished } from "../is-established.ts";
import { minimalObjects } from "../kinds/minimal-objects.ts";
import { apiVersionOf, collectionPath } from "../kinds/paths.ts";
import { until } from "../../tools/until.ts";
import { changed, isUpdateCase, type Change, type KindCases, type UpdateCase } from "./cases.ts";
import { mutate, mutateStatus, unordered } from "./mutations.ts";
import {
  judgeCreate,
  judgeSubresourceUpdate,
  judgeUpdate,
  verdictOf,
  type Judged,
} from "./judge.ts";

const operations = [
  "create",
  "update",
  "status",
  "approval",
  "finalize",
  "resize",
  "ephemeralcontainers",
] as const;

export type Operation = (typeof operations)[number];

export interface Step {
  readonly cases: KindCases;
  readonly kind: BuiltinKind;
  readonly operation: Operation;
  readonly change: Change | UpdateCase;
  readonly index: number;
}

/** Every case of the tables as a step of its own. */
export function stepsOf(
  tables: readonly KindCases[],
  find: (name: string) => BuiltinKind,
): readonly Step[] {
  return tables.flatMap((cases) => {
    const kind = find(cases.kind);
    return operations.flatMap((operation) =>
      [...(cases[operation] ?? []), ...shared(kind, operation)].map((change, index) => ({
        cases,
        kind,
        operation,
        change,
        index,
      })),
    );
  });
}

/** What is tried on every kind that is stored. */
function shared(kind: BuiltinKind, operation: Operation): readonly Change[] {
  if (operation !== "create" || kind.listKind === undefined) return [];
  return [{ "metadata/finalizers": ["bare"] }, { "metadata/finalizers": ["example.com/one"] }];
}

export class Runner {
  readonly #laboratory: Laboratory;
  readonly #kinds: BuiltinKinds;
  readonly #typed = new Map<string, TypedKind>();

  constructor(laboratory: Laboratory, kinds: BuiltinKinds) {
    this.#laboratory = laboratory;
    this.#kinds = kinds;
  }

  async run(step: Step, signal: AbortSignal): Promise<Trial> {
    return step.operation === "create"
      ? await this.#create(step, signal)
      : await this.#update(step, signal);
  }

  /** A creation or an update that chance makes, for a kind of the tables. */
  async chance(random: Random, tables: readonly KindCases[], signal: AbortSignal): Promise<Trial> {
    const cases = random.pick(tables);
    const [group = "", version = "", name = ""] = cases.kind.split("/");
    const kind = this.#kinds.find({ group, version, kind: name });
    if (kind === undefined) throw new Error(`no kind ${cases.kind}`);
    const kinds = this.#kinds;
    const dice = kind.listKind === undefined ? 0 : random.integer(8);
    const operation = dice < 5 ? "create" : dice < 7 || !hasStatus(kind) ? "update" : "status";
    const make = (object: JsonObject): JsonObject =>
      operation === "status"
        ? mutateStatus(object, { kind, kinds, random })
        : mutate(object, { cases: cases[operation] ?? [], kind, kinds, random });
    const step: Step = { cases, kind, operation, change: {}, index: 0 };
    const trial =
      operation === "create"
        ? await this.#create(step, signal, make)
        : await this.#update(step, signal, make);
    const [oracle, ours] = [trial.oracle, trial.ours].map((answer) => orderless(answer, name));
    return { ...trial, oracle, ours };
  }

  async #create(
    step: Step,
    signal: AbortSignal,
    make: (object: JsonObject) => JsonObject = (object) => object,
  ): Promise<Trial> {
    const { kind, cases, change } = step;
    const one = isUpdateCase(change) ? change.after : change;
    const body = make(changed(this.#object(kind, cases, "case", 0), one));
    const path = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
    const query = kind.listKind === undefined ? "" : "?dryRun=All";
    const answer = await this.#laboratory.send(
      { method: "POST", path: `${path}${query}`, body },
      signal,
    );
    const ours = this.#decoded(step, body, (object) =>
      judgeCreate(
        kind,
        kind.listKind === undefined
          ? object
          : {
              ...object,
              metadata: systemMetadata(object),
              // Of almost every kind the server does not take a status from who creates.
              ...(hasStatus(kind) && !kind.switches.keepsStatusOnCreate
                ? { status: this.#typedOf(kind).empty()["status"] ?? {} }
                : {}),
            },
      ),
    );
    return trialOf(step, answer, ours, body);
  }

  #typedOf(kind: BuiltinKind): TypedKind {
    const name = `${kind.group}/${kind.version}/${kind.kind}`;
    const typed = this.#typed.get(name) ?? typedKind(this.#kinds, kind);
    this.#typed.set(name, typed);
    return typed;
  }

  /** What is said of a body once it is decoded and defaulted, or of one that cannot be decoded. */
  #decoded(
    { kind, operation }: Step,
    body: JsonObject,
    judge: (object: JsonObject) => Judged,
  ): Judged {
    const typed = this.#typedOf(kind);
    try {
      const { object } = typed.decode(body);
      typed.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
      // What is compared with a stored object has its form.
      if (operation !== "create") typed.toStored(object);
      const judged = judge(object);
      const stored = cloneJson(judged.object);
      typed.toStored(stored);
      return { ...judged, object: stored };
    } catch (error) {
      if (!(error instanceof TypedDecodeError)) throw error;
      const message = decodeFailureMessage(error, { ...kind, version: kind.version });
      return { verdict: { code: 400, message, causes: [] }, object: body, warnings: [] };
    }
  }

  async #update(
    step: Step,
    signal: AbortSignal,
    make: (object: JsonObject) => JsonObject = (object) => object,
  ): Promise<Trial> {
    const { kind, cases, change, operation } = step;
    const { before, after } = isUpdateCase(change) ? change : { before: {}, after: change };
    const index = this.#laboratory.freshNumber();
    const collection = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
    const body = changed(this.#object(kind, cases, `case-${index}`, index), before);
    const created = objectOf(
      await this.#laboratory.must({ method: "POST", path: collection, body }, signal),
    );
    const { name } = objectOf(created["metadata"] ?? {});
    if (typeof name !== "string") throw new TypeError("the server gave no name");
    const path = `${collection}/${encodeURIComponent(name)}`;
    try {
      const through = isUpdateCase(change) ? (change.through ?? {}) : {};
      for (const [endpoint, first] of Object.entries(through)) {
        const old = objectOf(await this.#laboratory.must({ path }, signal));
        const request = { method: "PUT", path: `${path}/${endpoint}` } as const;
        await this.#laboratory.must({ ...request, body: changed(old, first) }, signal);
      }
      const attempt = async (): Promise<Trial | undefined> => {
        const old = await this.#settled(path, signal);
        const next = make(changed(old, after));
        const to = operation === "update" ? path : `${path}/${operation}`;
        const answer = await this.#laboratory.send(
          { method: "PUT", path: `${to}?dryRun=All`, body: next },
          signal,
        );
        // A loop of the server was quicker.
        if (answer.status === 409) return undefined;
        const ours = this.#decoded(step, next, (object) =>
          operation === "update"
            ? judgeUpdate(kind, object, old)
            : judgeSubresourceUpdate(kind, object, old, operation),
        );
        return trialOf(step, answer, ours, next);
      };
      return await until(attempt, signal, `a change of ${path} that nobody forestalls`);
    } finally {
      await this.#laboratory.send({ method: "DELETE", path }, signal);
    }
  }

  /** The object once nobody changes it any more: definitions are given conditions. */
  async #settled(path: string, signal: AbortSignal): Promise<JsonObject> {
    const read = async (): Promise<JsonObject | undefined> => {
      const object = objectOf(await this.#laboratory.must({ path }, signal));
      if (object["kind"] !== "CustomResourceDefinition") return object;
      const isSettled = isEstablished(object) || writeJson(object).includes("InvalidCABundle");
      return isSettled ? object : undefined;
    };
    return await until(read, signal, `the conditions of ${path}`);
  }

  #object(kind: BuiltinKind, cases: KindCases, name: string, index: number): JsonObject {
    const minimal = minimalObjects[cases.kind];
    const named = cases.name?.(index) ?? minimal?.name?.(index) ?? name;
    const fields =
      cases.fields?.(named) ??
      (typeof minimal?.fields === "function" ? minimal.fields(named) : (minimal?.fields ?? {}));
    return JSON.parse(
      JSON.stringify({
        apiVersion: apiVersionOf(kind),
        kind: kind.kind,
        metadata: { name: named, ...(kind.isNamespaced ? { namespace } : {}) },
        ...fields,
      }).replaceAll("NAMESPACE", namespace),
    ) as JsonObject;
  }
}

const namespace = "lab-0";

/** What the server adds to the metadata of a new object. */
function systemMetadata({ metadata }: JsonObject): JsonObject {
  const { name, generateName } = metadata !== undefined && isJsonObject(metadata) ? metadata : {};
  const isGenerated = generateName !== undefined && name === undefined;
  return {
    ...(metadata !== undefined && isJsonObject(metadata) ? metadata : {}),
    ...(isGenerated ? { name: `${JSON.stringify(generateName)}x` } : {}),
    uid: "7a3c1f5e-0000-4000-8000-000000000001",
    creationTimestamp: "2026-01-01T00:00:00Z",
  };
}

function hasStatus(kind: BuiltinKind): boolean {
  return kind.subresources.some(({ name }) => name === "status");
}

function objectOf(value: Json): JsonObject {
  if (!isJsonObject(value)) throw new TypeError(`no object: ${JSON.stringify(value)}`);
  return value;
}

function trialOf(
  { kind, operation, change }: Step,
  answer: {
    readonly status: number;
    readonly isAccepted: boolean;
    readonly body: Json | undefined;
    readonly warnings: readonly string[];
  },
  ours: Judged,
  sent: Json,
): Trial {
  return {
    kind: `${kind.kind}.${kind.group}`,
    operation,
    accepted: answer.isAccepted,
    oracle: {
      verdict: verdictOf(answer.status, answer.body),
      warnings: answer.warnings.filter((text) => !isAboutVersion(text)),
      object: answer.isAccepted ? content(kind, answer.body ?? null) : null,
    },
    ours: {
      verdict: ours.verdict,
      warnings: answer.isAccepted ? [...ours.warnings] : [],
      object: answer.isAccepted ? content(kind, ours.object) : null,
    },
    context: { change, sent },
  };
}

/** What rules prepare: everything but metadata, times and what only the server knows. */
function content(kind: BuiltinKind, object: Json): Json {
  if (!isJsonObject(object) || kind.listKind === undefined) return null;
  const { metadata: _metadata, ...rest } = object;
  const text = JSON.stringify(rest, (key, value: unknown) => {
    if (key === "lastTransitionTime" || key === "lastUpdateTime") return "<time>";
    // Who asks for a certificate.
    if (kind.kind === "CertificateSigningRequest" && whoAsks.has(key)) return undefined;
    return typeof value === "bigint" ? String(value) : value;
  });
  return JSON.parse(text) as Json;
}

const whoAsks: ReadonlySet<string> = new Set(["username", "uid", "groups", "extra"]);

/** A version that will go is the server's to speak of, not the kind's. */
function isAboutVersion(warning: string): boolean {
  return / is deprecated in v1\.\d+\+, unavailable in v1\.\d+\+$/.test(warning);
}

function orderless(answer: Json | undefined, kind: string): Json {
  if (answer === undefined || !isJsonObject(answer)) return null;
  const { verdict = null, object = null } = answer;
  return { verdict: unordered(verdict, kind), object };
}
