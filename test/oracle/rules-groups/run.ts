// One case: sent to the real server, and judged by our rules.

import { isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { BuiltinKind } from "@keelson/kube";

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
  /** What the server makes of the base object of a kind. */
  readonly #bases = new Map<string, Promise<JsonObject>>();
  #names = 0;

  constructor(laboratory: Laboratory) {
    this.#laboratory = laboratory;
  }

  async run(step: Step, signal: AbortSignal): Promise<Trial> {
    return step.operation === "create"
      ? await this.#create(step, signal)
      : await this.#update(step, signal);
  }

  async #create(step: Step, signal: AbortSignal): Promise<Trial> {
    const { kind, cases, change } = step;
    const one = isUpdateCase(change) ? change.after : change;
    const sent = this.#object(kind, cases, "case", 0);
    const body = changed(sent, one);
    const path = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
    const query = kind.listKind === undefined ? "" : "?dryRun=All";
    const answer = await this.#laboratory.send(
      { method: "POST", path: `${path}${query}`, body },
      signal,
    );
    const ours =
      answer.isAccepted && isJsonObject(answer.body)
        ? judgeCreate(kind, answer.body)
        : judgeCreate(kind, changed(await this.#base(kind, cases, signal), one));
    return trialOf(step, answer, ours, body);
  }

  /** The base object as the server defaults it. */
  #base(kind: BuiltinKind, cases: KindCases, signal: AbortSignal): Promise<JsonObject> {
    const known = this.#bases.get(cases.kind);
    if (known !== undefined) return known;
    const path = collectionPath(kind, kind.isNamespaced ? namespace : undefined);
    const query = kind.listKind === undefined ? "" : "?dryRun=All";
    const made = this.#laboratory
      .must(
        { method: "POST", path: `${path}${query}`, body: this.#object(kind, cases, "case", 0) },
        signal,
      )
      .then(objectOf);
    this.#bases.set(cases.kind, made);
    return made;
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
      const object = answer.isAccepted && isJsonObject(answer.body) ? answer.body : next;
      return trialOf(step, answer, judge(kind, object, old), next);
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
    oracle: { verdict: verdictOf(answer.status, answer.body), warnings: [...answer.warnings] },
    ours: { verdict: ours.verdict, warnings: answer.isAccepted ? [...ours.warnings] : [] },
    context: { change, sent },
  };
}
