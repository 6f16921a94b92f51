// What both kinds of objects have in common on their way through the operator: what is remembered of them, which of their
// changes are news, and how it is said that one cannot be seen to.

import { keyOf, refOf, type DynamicObject } from "@keelson/client";
import type { CachedResource, Change } from "@keelson/controller";
import { timeFromMs } from "@keelson/kube";

import { platformGroup } from "../kinds/platform-group.ts";
import { conditionsOf, findingsBefore, type Finding } from "../status/conditions.ts";
import { phaseOf } from "../status/phase.ts";
import { Memories, type AppMemory } from "./memory.ts";
import { ObjectStatus, statusOf } from "./object-status.ts";
import type { OperatorParts } from "./operator-parts.ts";

/** While we have it on an object, that cannot go without us. */
export const finalizer = `${platformGroup}/cleanup`;

export interface SeenObjectsOptions {
  readonly parts: Pick<OperatorParts, "client" | "clock" | "takeWrites">;
  readonly resource: CachedResource;
  /** The annotation of ours that says something of an object of this kind. */
  readonly annotation: string;
}

export interface Unready {
  readonly unready: Finding;
  /** How often in a row it could not be seen to. */
  readonly failedAttempts?: number;
  readonly isLeaving?: boolean;
  /** Whether what was said of its parts is still said: nobody knows better. */
  readonly keepsFindings?: boolean;
}

export class SeenObjects {
  readonly #options: SeenObjectsOptions;
  readonly #memories = new Memories();
  /** What `status.observedGeneration` says, for whoever is asked whether a change is news. */
  readonly #reconciledGenerations = new Map<string, number>();

  constructor(options: SeenObjectsOptions) {
    this.#options = options;
  }

  memoryOf(object: DynamicObject): AppMemory {
    return this.#memories.of(keyOf(refOf(object)), object.metadata.uid ?? "");
  }

  statusOf(object: DynamicObject): ObjectStatus {
    const { parts, resource } = this.#options;
    return new ObjectStatus({ client: parts.client, resource, object });
  }

  /** Everything that it asks for was done. */
  noteReconciled(object: DynamicObject): void {
    this.#reconciledGenerations.set(keyOf(refOf(object)), object.metadata.generation ?? 0);
  }

  forget(key: string): void {
    const { uid } = this.#memories.forget(key) ?? {};
    // What was removed at its end nobody else asks for.
    if (uid !== undefined) this.#options.parts.takeWrites(uid);
    this.#reconciledGenerations.delete(key);
  }

  /** Status is what we write ourselves; a generation that was reconciled needs nothing either. */
  isNews(change: Change): boolean {
    if (change.type !== "updated") return true;
    const [now, before] = [change.object.metadata, change.previous.metadata];
    const observed =
      this.#reconciledGenerations.get(keyOf(refOf(change.object))) ??
      statusOf(change.object).observedGeneration;
    if (now.generation !== before.generation && now.generation !== observed) return true;
    if (now.deletionTimestamp !== undefined) return before.deletionTimestamp === undefined;
    const isLetGo =
      before.finalizers?.includes(finalizer) === true &&
      now.finalizers?.includes(finalizer) !== true;
    const { annotation } = this.#options;
    return isLetGo || now.annotations?.[annotation] !== before.annotations?.[annotation];
  }

  /** Says why nothing can be said of its parts, or nothing new. */
  async sayUnready(
    { object, status }: { readonly object: DynamicObject; readonly status: ObjectStatus },
    told: Unready,
    signal: AbortSignal,
  ): Promise<void> {
    const { unready, failedAttempts = 0, isLeaving = false, keepsFindings = false } = told;
    const { generation = 0 } = object.metadata;
    const now = timeFromMs(this.#options.parts.clock.now());
    const before = status.said.conditions ?? [];
    const findings = keepsFindings ? findingsBefore(before, generation) : {};
    status.say({
      phase: phaseOf({ findings, unready, failedAttempts, isDeleting: isLeaving }),
      conditions: conditionsOf(findings, before, { generation, now, unready }),
    });
    await status.save(signal);
  }

  /** What cannot be is said, and waits for a change. Nothing is made for it. */
  async refuse(
    visit: { readonly object: DynamicObject; readonly status: ObjectStatus },
    problems: readonly string[],
    signal: AbortSignal,
  ): Promise<void> {
    const message = problems.join("; ");
    const unready = { status: "False", reason: "InvalidSpec", message } as const;
    await this.sayUnready(visit, { unready }, signal);
  }
}
