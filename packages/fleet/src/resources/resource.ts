// A resource as fleet keeps it: what somebody wants in one cluster.

import type { JsonObject } from "@keelson/base";

/** What an object is called, in one cluster. */
export interface ResourceKey {
  readonly clusterId: string;
  /** Empty for a kind without one. */
  readonly namespace: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export const policies = {
  conflictPolicy: ["force", "report"],
  driftPolicy: ["heal", "report"],
  immutablePolicy: ["report", "recreate"],
  propagation: ["background", "foreground"],
} as const;

/** What is done when others own a field, change one of ours, or it cannot be changed; and how it is deleted. */
export type Policies = {
  readonly [Name in keyof typeof policies]: (typeof policies)[Name][number];
};

/** What holds unless somebody says otherwise. */
export const usualPolicies: Policies = {
  conflictPolicy: "force",
  driftPolicy: "heal",
  immutablePolicy: "report",
  propagation: "background",
};

export interface Resource extends ResourceKey, Policies {
  readonly id: number;
  readonly desiredSpec: JsonObject;
  readonly generation: number;
  readonly revision: number;
  readonly paused: boolean;
  /** The global resource that it is a copy of. */
  readonly globalId: number | undefined;
  readonly isDeleting: boolean;
}

/** The largest number that the tables hold. */
export const integerMax = 2_147_483_647;
