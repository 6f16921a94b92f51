// Carries a write out twice, by the real server and by our rules, and compares all that can be seen.

import {
  cloneJson,
  isJsonArray,
  isJsonObject,
  jsonEqual,
  readJson,
  writeJson,
  type Json,
  type JsonObject,
  type MutableJsonObject,
} from "@keelson/base";
import {
  applyDefaults,
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  causeOf,
  decodeJsonPatch,
  emptyOf,
  fieldManager,
  FieldSet,
  keepTimes,
  patchTypes,
  StatusError,
  validate,
  validateObject,
  type BuiltinKinds,
  type FieldManager,
  type Status,
  type StructuralSchema,
} from "@keelson/kube";

import type { HttpClient, Request, Response } from "../../tools/http-client.ts";
import { apiVersionOf, collectionPath } from "../kinds/paths.ts";
import {
  compareManagers,
  later,
  managersOf,
  newestTime,
  retimed,
  timeOfWrite,
  withManagers,
} from "./managers.ts";
import { ourRefusal } from "./refused-creation.ts";
import type { Step, StepType } from "./steps.ts";
import type { Subject } from "./subjects.ts";

/** A kind under test, with what our rules know of it. */
export interface Bench {
  readonly subject: Subject;
  readonly schema: StructuralSchema | undefined;
  readonly kinds: BuiltinKinds;
  readonly manager: FieldManager;
  /** The same for `/status`, if there is one. */
  readonly statusManager: FieldManager | undefined;
  readonly client: HttpClient;
}

/** How a write ended, as both saw it. */
export interface Verdict {
  /** Whether the real server accepted it. */
  readonly accepted: boolean;
  /** What differs; empty if nothing does. */
  readonly differences: readonly string[];
  /** The object afterwards, as the real server has it. */
  readonly live: JsonObject;
  /** Whether the real server gave up on the request without an answer: its handler panicked. */
  readonly crashed?: boolean;
}

const mediaTypes: Readonly<Record<StepType, string>> = {
  ...patchTypes,
  update: "application/json",
};

export function benchFor(
  subject: Subject,
  {
    schema,
    kinds,
    client,
  }: {
    readonly schema: StructuralSchema | undefined;
    readonly kinds: BuiltinKinds;
    readonly client: HttpClient;
  },
): Bench {
  const apiVersion = apiVersionOf(subject);
  const kind = {
    group: subject.group,
    version: subject.version,
    kind: subject.kind,
    empty: subject.isBuiltIn ? emptyOf(kinds, subject) : {},
    schema,
    isCustom: !subject.isBuiltIn,
  };
  const { status } = subject;
  const statusManager =
    status === undefined
      ? undefined
      : fieldManager({
          ...kind,
          subresource: "status",
          resetFields: new Map([[apiVersion, FieldSet.of(...status.reset)]]),
        });
  const manager = fieldManager({
    ...kind,
    ...(subject.hasStatus ? { resetFields: new Map([[apiVersion, FieldSet.of(["status"])]]) } : {}),
  });
  return { subject, schema, kinds, manager, statusManager, client };
}

export function pathOf(subject: Subject, name?: string): string {
  const path = collectionPath(subject, subject.isNamespaced ? "default" : undefined);
  return name === undefined ? path : `${path}/${name}`;
}

/** Creates an object and compares who manages it, or why it is refused. */
export async function judgeCreate(
  bench: Bench,
  body: JsonObject,
  signal: AbortSignal,
): Promise<Verdict> {
  const path = `${pathOf(bench.subject)}?fieldManager=creator`;
  const request: Request = { method: "POST", path, body: writeJson(body) };
  const response = await sendOrCrash(bench.client, request, signal);
  if (response === undefined)
    return { accepted: false, live: body, differences: [], crashed: true };
  if (response.status !== 201) {
    const ours = ourRefusal({ ...bench, body });
    if (ours === undefined) {
      const differences = [`we take what the real server refuses: ${response.text}`];
      return { accepted: false, differences, live: body };
    }
    // Ours come with each cause once.
    const compareWith = (real: Response): string[] =>
      compareStatus(ours, real, { causesOf: uniqueCauses });
    const differences = await inOtherWords(compareWith(response), async () =>
      compareWith(await bench.client.send(request, signal)),
    );
    return { accepted: false, differences, live: body };
  }
  const live = readJson(response.text) as JsonObject;
  const next = beforeFilling(bench.subject, live, body);
  const ours = bench.manager.update(undefined, withManagers(next, managersOf(body)), {
    manager: "creator",
    now: newestTime(live),
  });
  return { accepted: true, differences: compareManagers(live, ours), live };
}

/** Carries out a step on the live object. */
export async function judge(
  bench: Bench,
  live: JsonObject,
  step: Step,
  signal: AbortSignal,
): Promise<Verdict> {
  const { subject, client } = bench;
  const name = nameOf(live) + (step.subresource === "" ? "" : `/${step.subresource}`);
  const ours = attempt(bench, live, step);
  // The real server makes of our result what it makes of every object; nothing is stored by it.
  const normalised =
    "failure" in ours
      ? undefined
      : await client.send(
          {
            method: "PUT",
            path: `${pathOf(subject, name)}?dryRun=All&fieldManager=normal`,
            body: writeJson(withVersionOf(withManagers(ours.object, undefined), live)),
          },
          signal,
        );
  const query = `?fieldManager=${step.manager}${step.force ? "&force=true" : ""}`;
  const request: Request = {
    method: step.type === "update" ? "PUT" : "PATCH",
    path: pathOf(subject, name) + query,
    body: writeJson(step.body),
    headers: { "content-type": mediaTypes[step.type] },
  };
  const sentAt = `${new Date().toISOString().slice(0, "2026-01-01T00:00:00".length)}Z`;
  const real = await sendOrCrash(client, request, signal);
  if (real === undefined) return { accepted: false, live, differences: [], crashed: true };
  const accepted = real.status < 300;
  const after = accepted ? (readJson(real.text) as JsonObject) : live;
  const compareWith = (answer: Response): string[] =>
    compare(bench, { live, step, ours, normalised, real: answer, sentAt });
  const first = compareWith(real);
  if (accepted || !("failure" in ours)) return { accepted, live: after, differences: first };
  const differences = await inOtherWords(first, async () =>
    compareWith(await client.send(request, signal)),
  );
  return { accepted, live: after, differences };
}

/** How often the real server is asked whether it has our words for a refusal, too. */
const otherWordsMax = 20;

/** Go walks a map as it likes: of several faults it names another first each time. What is refused changes nothing. */
async function inOtherWords(
  first: readonly string[],
  again: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  let differences = first;
  for (let times = 0; times < otherWordsMax && differences.length > 0; times++) {
    differences = await again();
  }
  return differences;
}

async function sendOrCrash(
  client: HttpClient,
  request: Request,
  signal: AbortSignal,
): Promise<Response | undefined> {
  try {
    return await client.send(request, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ECONNRESET") return undefined;
    throw error;
  }
}

/** Our outcome: an object before defaults, or a failure. */
type Attempt =
  | { readonly object: JsonObject; readonly managed: JsonObject | undefined }
  | { readonly failure: Status };

function managerFor(bench: Bench, step: Step): FieldManager {
  return step.subresource === "status" ? (bench.statusManager ?? bench.manager) : bench.manager;
}

function attempt(bench: Bench, live: JsonObject, step: Step): Attempt {
  const { schema } = bench;
  const manager = managerFor(bench, step);
  try {
    switch (step.type) {
      case "json": {
        const { operations } = decodeJsonPatch(step.body);
        const object = applyJsonPatch(live, operations);
        return { object: object as JsonObject, managed: undefined };
      }
      case "merge":
        return { object: applyMergePatch(live, step.body), managed: undefined };
      case "strategic":
        return {
          object: applyStrategicMergePatch(live, step.body, schema ?? {}),
          managed: undefined,
        };
      case "apply": {
        const applied = manager.apply(live, step.body as JsonObject, {
          manager: step.manager,
          force: step.force,
          now: later,
        });
        return { object: applied.object, managed: applied.object };
      }
      case "update":
        return { object: step.body as JsonObject, managed: undefined };
    }
  } catch (error) {
    if (error instanceof StatusError) return { failure: error.status };
    throw error;
  }
}

interface Outcomes {
  readonly live: JsonObject;
  readonly step: Step;
  readonly ours: Attempt;
  readonly normalised: Response | undefined;
  readonly real: Response;
  /** The second in which the real one was asked. */
  readonly sentAt: string;
}

function compare(bench: Bench, outcomes: Outcomes): string[] {
  const { ours, normalised, real, live, step, sentAt } = outcomes;
  if ("failure" in ours) {
    if (real.status < 300)
      return [`we refuse what the real server accepts: ${ours.failure.message}`];
    return compareStatus(ours.failure, real);
  }
  if (normalised === undefined) return [];
  if (real.status >= 300) {
    if (normalised.status < 300) {
      return isNullOfApply(step, real)
        ? compareNulls(bench, step, ours.object, real)
        : [`the real server refuses: ${real.text}`];
    }
    return compareRefusals(normalised, real);
  }
  if (normalised.status >= 300) return [`our result is refused: ${normalised.text}`];

  const after = readJson(real.text) as JsonObject;
  const result = readJson(normalised.text) as JsonObject;
  const differences = jsonEqual(visible(after), visible(result))
    ? []
    : [`objects differ\n real ${writeJson(visible(after))}\n ours ${writeJson(visible(result))}`];
  const track = (object: JsonObject): JsonObject =>
    managerFor(bench, step).update(live, withManagers(object, managersOf(ours.object)), {
      manager: step.manager,
      now: timeOfWrite(after, sentAt),
    });
  const tracked =
    ours.managed === undefined
      ? track(beforeFilling(bench.subject, result, ours.object))
      : retimed(ours.managed, after, sentAt);
  const managed = withManagers(result, managersOf(tracked));
  // Where the real one wrote nothing, ours must come to the same end. It moves on with no more than a time where that
  // puts an entry elsewhere in the order (S12).
  const stored = isUntouched(live, after) ? keepTimes(managed, live) : managed;
  const found = compareManagers(after, stored);
  // The real one gives an atomic list to who only says it otherwise, ours does not (D4).
  const isRespelled =
    found.length > 0 &&
    ours.managed === undefined &&
    compareManagers(after, track(ours.object)).length === 0;
  return isRespelled ? differences : [...differences, ...found];
}

function isUntouched(before: JsonObject, after: JsonObject): boolean {
  return versionOf(before) === versionOf(after);
}

/** The stored object without what was filled in after the managers were noted: such fields are as they were sent. */
function beforeFilling(subject: Subject, stored: JsonObject, sent: JsonObject): JsonObject {
  let result = stored;
  for (const [outer, inner] of subject.filledLate ?? []) {
    const section = result[outer];
    const said = sent[outer];
    if (!isJsonObject(section)) continue;
    const { [inner]: _, ...rest } = section;
    const own = isJsonObject(said) ? said[inner] : undefined;
    // An empty list says nothing.
    const isSaid = own !== undefined && own !== null && !(isJsonArray(own) && own.length === 0);
    result = { ...result, [outer]: isSaid ? { ...rest, [inner]: own } : rest };
  }
  return result;
}

function compareStatus(
  ours: Status,
  real: Response,
  { causesOf = sortedCauses }: { readonly causesOf?: typeof sortedCauses } = {},
): string[] {
  const theirs = real.body as Status | undefined;
  if (theirs === undefined) return [`no status: ${real.text}`];
  const differences: string[] = [];
  const same = (what: string, a: unknown, b: unknown): void => {
    const left = JSON.stringify(a ?? null);
    const right = JSON.stringify(b ?? null);
    if (left !== right) differences.push(`${what} differs\n real ${right}\n ours ${left}`);
  };
  if (isAllowedDuplicate(ours, theirs)) return [];
  same("code", ours.code, theirs.code);
  same("reason", ours.reason, theirs.reason);
  same("message", sortedLines(ours.message), sortedLines(theirs.message));
  same("causes", causesOf(ours), causesOf(theirs));
  return differences;
}

/** KB 44: an apply that sends duplicates is 500 there and 422 here. */
function isAllowedDuplicate(ours: Status, theirs: Status): boolean {
  return (
    ours.code === 422 &&
    theirs.code === 500 &&
    /duplicate entries for key/.test(theirs.message ?? "")
  );
}

/**
 * An apply that gives up all items of a list leaves a null, which the real server then refuses for a custom kind. Our
 * result has the same null, but sent as a replacement it is read as absent: so our own rules must refuse it.
 */
function isNullOfApply(step: Step, real: Response): boolean {
  return step.type === "apply" && /must be of type \w+: \\"null\\"/.test(real.text);
}

function compareNulls(
  { schema = {} }: Bench,
  { subresource }: Step,
  object: JsonObject,
  real: Response,
): string[] {
  const filled: MutableJsonObject = cloneJson({ ...object, metadata: {} });
  applyDefaults(filled, schema);
  // At its endpoint the status is judged alone, and metadata is no matter of the schema.
  const errors =
    subresource === "status"
      ? validate(schema.properties?.["status"] ?? {}, filled["status"] ?? null, "status")
      : validateObject(schema, filled).errors;
  const causes = errors.map(causeOf);
  const ours = sortedCauses({ details: { causes } }).join();
  const theirs = sortedCauses(real.body as Status).join();
  if (ours === theirs) return [];
  return [`causes differ\n real ${theirs}\n ours ${ours}`];
}

/** The order of managers in a conflict, and of several misfits, is free. */
function sortedLines(message: string | undefined): string[] {
  return (message ?? "")
    .split(/\n|: \[|, /)
    .map((part) => part.replace(/\]+$/, ""))
    .sort();
}

function sortedCauses({ details }: Pick<Status, "details">): string[] {
  return (details?.causes ?? [])
    .map(({ reason, message, field }) => JSON.stringify([reason, message, field]))
    .sort();
}

function uniqueCauses(status: Pick<Status, "details">): string[] {
  return [...new Set(sortedCauses(status))];
}

/** The same object is refused twice: with the same words, unless it could not even be decoded. */
function compareRefusals(normalised: Response, real: Response): string[] {
  const a = normalised.body as Status | undefined;
  const b = real.body as Status | undefined;
  if (a === undefined || b === undefined) {
    const [ours, theirs] = [normalised, real].map(({ status, text }) => `${status} ${text}`);
    return ours === theirs ? [] : [`refusals differ\n real ${theirs}\n ours ${ours}`];
  }
  const isDecoding = a.code === 400 && (b.code === 422 || b.code === 400 || b.code === 500);
  if (isDecoding) return [];
  return compareStatus(a, real);
}

/** What must be equal: all but what every write changes. */
function visible(object: JsonObject): JsonObject {
  const metadata = { ...((object["metadata"] ?? {}) as JsonObject) } as Record<string, Json>;
  delete metadata["managedFields"];
  delete metadata["resourceVersion"];
  return { ...object, metadata };
}

function withVersionOf(object: JsonObject, live: JsonObject): JsonObject {
  if (!isJsonObject(object["metadata"])) return object;
  return {
    ...object,
    metadata: { ...object["metadata"], resourceVersion: versionOf(live) },
  };
}

function versionOf(object: JsonObject): Json {
  return (object["metadata"] as JsonObject)["resourceVersion"] ?? "";
}

function nameOf(object: JsonObject): string {
  const metadata = object["metadata"];
  const name = isJsonObject(metadata) ? metadata["name"] : undefined;
  return typeof name === "string" ? name : "";
}
