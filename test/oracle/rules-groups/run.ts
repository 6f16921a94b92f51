// One case: sent to the real server, and judged by our rules.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import {
  decodeFailureMessage,
  typedKind,
  TypedDecodeError,
  type BuiltinKind,
  type BuiltinKinds,
  type TypedKind,
} from "@keelson/kube";

import type { Laboratory, Trial } from "../differential.ts";
import { minimalObjects } from "../kinds/minimal-objects.ts";
import { apiVersionOf, collectionPath } from "../kinds/paths.ts";
import { changed, isUpdateCase, type Change, type KindCases, type UpdateCase } from "./cases.ts";
import { judgeCreate, judgeStatusUpdate, judgeUpdate, verdictOf, type Judged } from "./judge.ts";

export type Operation = "create" | "update" | "status";

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
    const operations = ["create", "update", "status"] as const;
    return operations.flatMap((operation) =>
      (cases[operation] ?? []).map((change, index) => ({ cases, kind, operation, change, index })),
    );
  });
}

export class Runner {
  readonly #laboratory: Laboratory;
  readonly #kinds: BuiltinKinds;
  readonly #typed = new Map<string, TypedKind>();
  #names = 0;

  constructor(laboratory: Laboratory, kinds: BuiltinKinds) {
    this.#laboratory = laboratory;
    this.#kinds = kinds;
  }

  async run(step: Step, signal: AbortSignal): Promise<Trial> {
    return step.operation === "create"
      ? await this.#create(step, signal)
      : await this.#update(step, signal);
  }

  async #create(step: Step, signal: AbortSignal): Promise<Trial> {
    const { kind, cases, change } = step;
    const one = isUpdateCase(change) ? change.after : change;
    const body = changed(this.#object(kind, cases, "case", 0), one);
    const path = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
    const query = kind.listKind === undefined ? "" : "?dryRun=All";
    const answer = await this.#laboratory.send(
      { method: "POST", path: `${path}${query}`, body },
      signal,
    );
    const ours = this.#decoded(kind, body, (object) =>
      judgeCreate(
        kind,
        kind.listKind === undefined ? object : { ...object, metadata: systemMetadata(object) },
      ),
    );
    return trialOf(step, answer, ours, body);
  }

  /** What is said of a body once it is decoded and defaulted, or of one that cannot be decoded. */
  #decoded(kind: BuiltinKind, body: JsonObject, judge: (object: JsonObject) => Judged): Judged {
    const name = `${kind.group}/${kind.version}/${kind.kind}`;
    const typed = this.#typed.get(name) ?? typedKind(this.#kinds, kind);
    this.#typed.set(name, typed);
    try {
      const { object } = typed.decode(body);
      typed.applyDefaults(object, { now: "2026-01-01T00:00:00Z" });
      return judge(object);
    } catch (error) {
      if (!(error instanceof TypedDecodeError)) throw error;
      const message = decodeFailureMessage(error, { ...kind, version: kind.version });
      return { verdict: { code: 400, message, causes: [] }, object: body, warnings: [] };
    }
  }

  async #update(step: Step, signal: AbortSignal): Promise<Trial> {
    const { kind, cases, change, operation } = step;
    const { before, after } = isUpdateCase(change) ? change : { before: {}, after: change };
    const index = (this.#names += 1);
    const collection = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
    const body = changed(this.#object(kind, cases, `case-${index}`, index), before);
    const created = objectOf(
      await this.#laboratory.must({ method: "POST", path: collection, body }, signal),
    );
    const { name } = objectOf(created["metadata"] ?? {});
    if (typeof name !== "string") throw new TypeError("the server gave no name");
    const path = `${collection}/${encodeURIComponent(name)}`;
    try {
      const old = await this.#settled(path, signal);
      const next = changed(old, after);
      const to = operation === "status" ? `${path}/status` : path;
      const answer = await this.#laboratory.send(
        { method: "PUT", path: `${to}?dryRun=All`, body: next },
        signal,
      );
      const judge = operation === "status" ? judgeStatusUpdate : judgeUpdate;
      const ours = this.#decoded(kind, next, (object) => judge(kind, object, old));
      return trialOf(step, answer, ours, next);
    } finally {
      await this.#laboratory.send({ method: "DELETE", path }, signal);
    }
  }

  /** The object once nobody changes it any more: definitions are given conditions. */
  async #settled(path: string, signal: AbortSignal): Promise<JsonObject> {
    const object = objectOf(await this.#laboratory.must({ path }, signal));
    if (object["kind"] !== "CustomResourceDefinition") return object;
    const { status = {} } = object;
    const text = JSON.stringify(status, (_key, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    if (/"True"[^}]*"Established"|"Established","status":"True"|InvalidCABundle/.test(text)) {
      return object;
    }
    return await this.#settled(path, signal);
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
    },
    ours: { verdict: ours.verdict, warnings: answer.isAccepted ? [...ours.warnings] : [] },
    context: { change, sent },
  };
}

/** A version that will go is the server's to speak of, not the kind's. */
function isAboutVersion(warning: string): boolean {
  return / is deprecated in v1\.\d+\+, unavailable in v1\.\d+\+$/.test(warning);
}
