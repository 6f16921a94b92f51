// How the deletion of a few kinds differs: what holds them besides finalizers, and how long they are given.

import { isJsonArray, isJsonObject, type JsonObject, type MutableJsonObject } from "@keelson/base";
import { beginTermination, failures, memberOf, type RuleContext } from "@keelson/kube";

import { integerAt, objectAt } from "../fields.ts";
import { isTerminating, nameOf } from "../object-metadata.ts";
import type { DeleteOptions } from "./delete-options.ts";

export interface DeletionRule {
  /** Throws a `StatusError` if the object may not be deleted at all. */
  check?(object: JsonObject): void;
  /** Whether something besides finalizers keeps the object until somebody has cleaned up. */
  isHeld?(object: JsonObject): boolean;
  /** What to tell a client that did not say what shall become of dependents. */
  readonly orphanWarning?: string;
  /** Whether marking it says nothing of a grace period, and does not raise its generation. */
  readonly hasNoGrace?: boolean;
  /** What else changes when the deletion is first asked for. */
  begin?(object: MutableJsonObject, context: RuleContext): void;
  /** How long the object is given; undefined: no time at all. */
  graceSeconds?(object: JsonObject, options: DeleteOptions): number | bigint | undefined;
}

const undeletable = new Set(["default", "kube-system", "kube-public"]);

const rules: Readonly<Record<string, DeletionRule>> = {
  Namespace: {
    check: (namespace) => {
      if (!undeletable.has(nameOf(namespace))) return;
      throw failures.forbidden(
        { group: "", resource: "namespaces" },
        nameOf(namespace),
        "this namespace may not be deleted",
      );
    },
    hasNoGrace: true,
    isHeld: (namespace) => {
      const finalizers = memberOf(objectAt(namespace, "spec"), "finalizers");
      return isJsonArray(finalizers) && finalizers.length > 0;
    },
    begin: (namespace) => {
      const { status } = namespace;
      namespace["status"] = { ...(isJsonObject(status) ? status : {}), phase: "Terminating" };
    },
  },
  "Job.batch": {
    orphanWarning:
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
  },
  Pod: {
    graceSeconds: (pod, { gracePeriodSeconds }) => {
      const asked =
        gracePeriodSeconds ?? integerAt(objectAt(pod, "spec"), "terminationGracePeriodSeconds");
      const phase = memberOf(objectAt(pod, "status"), "phase");
      const isScheduled = (memberOf(objectAt(pod, "spec"), "nodeName") ?? "") !== "";
      if (!isScheduled || phase === "Failed" || phase === "Succeeded") return 0;
      return asked < 0 ? 1 : asked;
    },
  },
  "CustomResourceDefinition.apiextensions.k8s.io": {
    hasNoGrace: true,
    // Until it is marked; from then on its finalizer holds it.
    isHeld: (definition) => !isTerminating(definition),
    begin: (definition, { now }) => {
      Object.assign(definition, beginTermination(definition, now));
    },
  },
};

/** The rule of a kind, by its name in the store. */
export function deletionRule(kind: string): DeletionRule {
  return Object.hasOwn(rules, kind) ? (rules[kind] ?? {}) : {};
}
