// The namespace of a preview as the operator sees to it: claimed before anything is made in it, and the last thing to go.

import { isAlreadyExists, type Client, type DynamicObject } from "@keelson/client";

import type { App } from "../app.ts";
import { fieldManager } from "../children/child.ts";
import { foreign, isChildOf, type Children } from "../children/children.ts";
import type { Ledger } from "../ownership/ledger.ts";
import { StepError } from "../steps/step-error.ts";
import { guardsOf, namespaceOf, type PreviewSettings } from "./preview-namespace.ts";

export const namespaceKind = { apiVersion: "v1", kind: "Namespace" } as const;

export interface NamespaceStep {
  readonly client: Client;
  readonly children: Pick<Children, "of" | "apply">;
  readonly settings: PreviewSettings;
}

export interface NamespaceOutcome {
  /** What had to be made. */
  readonly changes: readonly string[];
  /** What shall stay when children are pruned. */
  readonly wanted: readonly DynamicObject[];
}

interface Subject {
  readonly app: App;
  readonly ledger: Ledger;
}

/** Throws a `StepError` for what cannot be done now: a preview of the same pull request, say, has the namespace. */
export async function reconcileNamespace(
  step: NamespaceStep,
  { app, ledger }: Subject,
  signal: AbortSignal,
): Promise<NamespaceOutcome> {
  const { children, settings } = step;
  const name = app.namespace;
  const seen = await find(step, name, signal);
  const found = seen ?? (await claim(step, { app, ledger }, signal));
  if (!isChildOf(app, found)) {
    // We may have been about to make it when somebody else did.
    if (ledger.stateOf("Namespace", name) !== undefined) {
      await ledger.forget("Namespace", name, signal);
    }
    throw foreign(found);
  }
  if (found.metadata.deletionTimestamp !== undefined) {
    const message = `Namespace ${name} is being deleted: it is made anew when it is gone`;
    throw new StepError("Conflict", message);
  }
  await children.apply(app, namespaceOf(app), signal);
  if (ledger.stateOf("Namespace", name) !== "Ready") {
    await ledger.record({ kind: "Namespace", name, state: "Ready" }, signal);
  }
  const wanted: DynamicObject[] = [];
  for (const guard of guardsOf(app, settings)) {
    wanted.push(await children.apply(app, guard, signal));
  }
  return { changes: seen === undefined ? ["createNamespace"] : [], wanted };
}

/** Takes the namespace away with everything in it; `left` says that something of it is still there. */
export async function cleanupNamespace(
  step: Pick<NamespaceStep, "client" | "children">,
  { app, ledger }: Subject,
  signal: AbortSignal,
): Promise<{ readonly left?: string }> {
  for (const { name } of ledger.all("Namespace")) {
    const found = await find(step, name, signal);
    if (found !== undefined && isChildOf(app, found) && (await remains(step, found, signal))) {
      if (ledger.stateOf("Namespace", name) !== "Deleting") {
        await ledger.record({ kind: "Namespace", name, state: "Deleting" }, signal);
      }
      return { left: `Namespace ${name} is being deleted with what is in it${obstacles(found)}` };
    }
    await ledger.forget("Namespace", name, signal);
  }
  return {};
}

/** What does not go by itself. */
const obstacleTypes: ReadonlySet<string> = new Set([
  "NamespaceDeletionDiscoveryFailure",
  "NamespaceDeletionGroupVersionParsingFailure",
  "NamespaceDeletionContentFailure",
  "NamespaceFinalizersRemaining",
]);

/** In the words of the cluster; empty where nothing stands in the way. */
function obstacles(namespace: DynamicObject): string {
  const { conditions = [] } = (namespace["status"] ?? {}) as {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message?: string;
    }[];
  };
  return conditions
    .filter(({ type, status }) => obstacleTypes.has(type) && status === "True")
    .map(({ message = "" }) => `; ${message}`)
    .join("");
}

/** Deletes it, unless that has been asked for. */
async function remains(
  { children }: Pick<NamespaceStep, "children">,
  { metadata }: DynamicObject,
  signal: AbortSignal,
): Promise<boolean> {
  const { name = "", uid = "", deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return true;
  const ref = { name, preconditions: { uid } };
  return (await children.of(namespaceKind).delete(ref, signal)) !== undefined;
}

/** Created, not applied: of two previews that want it one must lose. */
async function claim(
  step: Pick<NamespaceStep, "client" | "children">,
  { app, ledger }: Subject,
  signal: AbortSignal,
): Promise<DynamicObject> {
  const name = app.namespace;
  if (ledger.stateOf("Namespace", name) === undefined) {
    await ledger.record({ kind: "Namespace", name, state: "Creating" }, signal);
  }
  try {
    return await step.children.of(namespaceKind).create(namespaceOf(app), { fieldManager }, signal);
  } catch (error) {
    const there = isAlreadyExists(error) ? await ask(step, name, signal) : undefined;
    if (there === undefined) throw error;
    return there;
  }
}

/** As it was last seen; where no cache has it, it may be there without our label. */
async function find(
  step: Pick<NamespaceStep, "client" | "children">,
  name: string,
  signal: AbortSignal,
): Promise<DynamicObject | undefined> {
  const seen = await step.children.of(namespaceKind).find({ name }, signal);
  return seen ?? (await ask(step, name, signal));
}

async function ask(
  { client }: Pick<NamespaceStep, "client">,
  name: string,
  signal: AbortSignal,
): Promise<DynamicObject | undefined> {
  return (await client.resource(namespaceKind, signal)).find({ name }, signal);
}
