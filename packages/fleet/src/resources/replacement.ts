// What a PUT asks for, and what a resource is after it.

import {
  jsonSame,
  refuseProblems,
  RestError,
  validationFailed,
  type Json,
  type JsonObject,
} from "@keelson/base";
import { desiredSpecProblems } from "./desired-spec.ts";
import type { EarlierState } from "./earlier-state.ts";
import { groupOf } from "./kinds.ts";
import type { Fields } from "./read-fields.ts";
import { apiVersionProblems, readPolicies, type NewResource } from "./resource-body.ts";
import { integerMax, type Policies, type Resource } from "./resource.ts";
import type { SecretMarkers } from "./secret-markers.ts";

/** A PUT as it was sent. */
export interface Replacement {
  /** Undefined: not sent. It may be anything until it is checked against its resource. */
  readonly desiredSpec: Json | undefined;
  readonly revision: number | undefined;
  readonly restoreGeneration: number | undefined;
  readonly apiVersion: string | undefined;
  readonly policies: Partial<Policies>;
  readonly paused: boolean | undefined;
  /** What names a resource, where the body says it again: it must be what it is. */
  readonly identity: Readonly<Record<string, Json>>;
}

/** Members that name the resource. */
const identityNames = ["cluster_id", "namespace", "kind", "name"] as const;

/**
 * Reads a body; `saysMore` if it has said something already, `isByKey` if it names the resource by its key. Throws
 * `VALIDATION_FAILED` with all that is wrong; what depends on the resource is judged later.
 */
export function readReplacement(
  fields: Fields,
  {
    saysMore = false,
    isByKey = false,
  }: { readonly saysMore?: boolean; readonly isByKey?: boolean } = {},
): Replacement {
  const what = {
    desiredSpec: fields.any("desired_spec"),
    revision: fields.optionalNumber("revision"),
    restoreGeneration: fields.optionalNumber("restore_generation"),
  };
  const version = fields.optionalText("api_version", apiVersionProblems);
  const replacement: Replacement = {
    ...what,
    // What is brought back has a version of its own: that of a key only says which resource is meant.
    apiVersion: isByKey && isRestoring(what) ? undefined : version,
    policies: readPolicies(fields),
    paused: fields.optionalBoolean("paused"),
    identity: Object.fromEntries(
      identityNames.flatMap((name) => {
        const value = fields.any(name);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
  fields.refuseOthers();
  const { desiredSpec, revision, restoreGeneration, apiVersion, paused } = replacement;
  if (restoreGeneration !== undefined) {
    for (const [field, value] of Object.entries({
      desired_spec: desiredSpec,
      revision,
      api_version: apiVersion,
    })) {
      if (value === undefined) continue;
      fields.problems.push({ field, message: "must not be given beside restore_generation" });
    }
  }
  const isEmpty = saysNoMore(replacement) && paused === undefined;
  if (isEmpty && !saysMore && fields.problems.length === 0) {
    fields.problems.push({
      field: "body",
      message:
        "must say what changes: desired_spec, revision, restore_generation, paused or a policy",
    });
  }
  fields.throwIfWrong();
  return replacement;
}

/** Whether it pauses or resumes, and nothing else. */
export function onlyPauses(replacement: Replacement): boolean {
  return saysNoMore(replacement) && replacement.paused !== undefined;
}

/** Whether it changes nothing but `paused`, if that. */
function saysNoMore({
  desiredSpec,
  revision,
  restoreGeneration,
  apiVersion,
  policies,
}: Replacement): boolean {
  const others = [desiredSpec, revision, restoreGeneration, apiVersion, ...Object.values(policies)];
  return others.every((value) => value === undefined);
}

/** Whether it brings something back that was. */
export function isRestoring({
  desiredSpec,
  revision,
  restoreGeneration,
}: Pick<Replacement, "desiredSpec" | "revision" | "restoreGeneration">): boolean {
  return restoreGeneration !== undefined || (desiredSpec === undefined && revision !== undefined);
}

/** The same of a whole resource that is written over one that is there. */
export function replacementOf(wanted: NewResource): Replacement {
  const { key, desiredSpec, revision, policies, paused } = wanted;
  const apiVersion = key.apiVersion;
  return {
    desiredSpec,
    revision,
    apiVersion,
    policies,
    paused,
    restoreGeneration: undefined,
    identity: {},
  };
}

/** A resource after a PUT. */
export interface Replaced {
  readonly resource: Resource;
  readonly isChanged: boolean;
  /** Whether its revision was given, also if it is the one that it had. */
  readonly keepsRevision: boolean;
}

/** Works out what `resource` becomes. Throws `VALIDATION_FAILED` for what does not fit it. */
export function replaced(
  resource: Resource,
  asked: Replacement,
  earlier: EarlierState | undefined,
  markers: SecretMarkers,
): Replaced {
  checkIdentity(resource, asked);
  checkVersion(resource, asked, earlier);
  const apiVersion = earlier?.apiVersion ?? asked.apiVersion ?? resource.apiVersion;
  const desiredSpec =
    earlier?.desiredSpec ?? newSpec({ ...resource, apiVersion }, asked.desiredSpec, markers);
  // By value, as the database compares them: it keeps 1e2 as 100.
  const isNewSpec = !jsonSame(desiredSpec, resource.desiredSpec);
  const given = earlier?.revision ?? asked.revision;
  if (isNewSpec && given === undefined && resource.revision === integerMax) {
    const message = `must be given: the last one was ${integerMax}`;
    throw validationFailed({ field: "revision", message });
  }
  const next: Resource = {
    ...resource,
    ...asked.policies,
    apiVersion,
    desiredSpec,
    revision: given ?? resource.revision,
    paused: asked.paused ?? resource.paused,
  };
  const isChanged =
    isNewSpec ||
    next.apiVersion !== resource.apiVersion ||
    next.revision !== resource.revision ||
    next.paused !== resource.paused ||
    next.conflictPolicy !== resource.conflictPolicy ||
    next.driftPolicy !== resource.driftPolicy ||
    next.immutablePolicy !== resource.immutablePolicy ||
    next.propagation !== resource.propagation;
  return { resource: next, isChanged, keepsRevision: given !== undefined };
}

function newSpec(resource: Resource, sent: Json | undefined, markers: SecretMarkers): JsonObject {
  if (sent === undefined) return resource.desiredSpec;
  refuseProblems(desiredSpecProblems(sent, resource));
  const restored = markers.restore(sent as JsonObject, resource.desiredSpec, resource); // An object: no problem was found.
  refuseProblems(restored.problems);
  return restored.spec;
}

function checkIdentity(resource: Resource, { identity, apiVersion }: Replacement): void {
  const own: Readonly<Record<string, string>> = {
    cluster_id: resource.clusterId,
    namespace: resource.namespace,
    kind: resource.kind,
    name: resource.name,
  };
  for (const [field, value] of Object.entries(identity)) {
    // A kind without namespaces ignores the one that it is given, as on creation.
    const isIgnored = field === "namespace" && resource.namespace === "";
    if (value === own[field] || isIgnored) continue;
    const message = `must be ${JSON.stringify(own[field])}: a resource keeps its identity`;
    throw validationFailed({ field, message });
  }
  if (apiVersion !== undefined && groupOf(apiVersion) !== groupOf(resource.apiVersion)) {
    const group = groupOf(resource.apiVersion) || "the core group";
    throw validationFailed({ field: "api_version", message: `must be a version of ${group}` });
  }
}

/** A version is the one that is brought back, and the one that a spec says which stays. */
function checkVersion(
  { desiredSpec }: Resource,
  asked: Replacement,
  earlier: EarlierState | undefined,
): void {
  const { apiVersion } = asked;
  if (apiVersion === undefined) return;
  const wrong = (own: string, why: string): never => {
    throw validationFailed({
      field: "api_version",
      message: `must be ${JSON.stringify(own)}: ${why}`,
    });
  };
  if (earlier !== undefined && earlier.apiVersion !== apiVersion) {
    wrong(earlier.apiVersion, "a revision is brought back at its own version");
  }
  const own = desiredSpec["apiVersion"];
  const stays = earlier === undefined && asked.desiredSpec === undefined;
  if (stays && typeof own === "string" && own !== apiVersion) {
    wrong(own, "the spec says it, and is not sent anew");
  }
}

/** Throws unless the resource may be written by somebody who expects it at `ifMatch`. */
export function checkWritable(resource: Resource, ifMatch: number | undefined): void {
  checkMatch(resource, ifMatch);
  if (resource.isDeleting) {
    throw new RestError("RESOURCE_DELETING", "the resource is being deleted");
  }
  checkNoCopy(resource);
}

export function checkMatch({ generation }: Resource, ifMatch: number | undefined): void {
  if (ifMatch === undefined || ifMatch === generation) return;
  throw new RestError("PRECONDITION_FAILED", `the resource is at generation ${generation}`, {
    details: { generation },
  });
}

/** Copies follow their global resource and nobody else. */
export function checkNoCopy({ globalId }: Resource): void {
  if (globalId === undefined) return;
  throw new RestError("GLOBAL_COPY", `it is a copy of global resource ${globalId}: change that`, {
    details: { global_id: globalId },
  });
}
