// What a spec must be, beyond its schema: rules that look at several parts of it, at what is stored and at what is configured.

import {
  isJsonObject,
  JsonNumber,
  refuseProblems,
  validationFailed,
  type FieldProblem,
  type Json,
  type JsonObject,
} from "@keelson/base";

const channelGroups = ["stable", "fast", "candidate", "eus"] as const;

/** What a release is where nobody says. */
export interface SpecDefaults {
  readonly clusterVersion: string | undefined;
  readonly channelGroup: string | undefined;
}

/** Throws `VALIDATION_FAILED` for a name that nobody could read. */
export function checkName(name: string): void {
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(name)) {
    throw validationFailed({ field: "name", message: "must have printable characters only" });
  }
  if (name.trim() === "") throw validationFailed({ field: "name", message: "must not be empty" });
}

/**
 * The spec of a cluster with its release filled in: from what is stored, else from what is configured. Throws
 * `VALIDATION_FAILED` with all that is wrong.
 */
export function clusterSpec(
  spec: JsonObject,
  defaults: SpecDefaults,
  stored?: JsonObject,
): JsonObject {
  const problems: FieldProblem[] = [...infraIdProblems(spec)];
  const filled = withRelease(spec, defaults, stored, problems);
  refuse(problems);
  return filled;
}

/** The spec of a nodepool; a release without a version has the one of `inherited`. */
export function nodepoolSpec(spec: JsonObject, inherited: JsonObject | undefined): JsonObject {
  // To a schema a number that is kept as it was written (1.0) is an object too.
  if (!isJsonObject(spec)) throw validationFailed({ field: "spec", message: "must be an object" });
  const problems: FieldProblem[] = [];
  const replicas = member(spec, "replicas");
  if (replicas !== undefined && !isCount(replicas)) {
    problems.push({ field: "spec.replicas", message: "must be a whole number from 0 on" });
  }
  const platform = member(spec, "platform");
  const type = isJsonObject(platform) ? member(platform, "type") : undefined;
  if (platform !== undefined && !isJsonObject(platform)) {
    problems.push({ field: "spec.platform", message: "must be an object" });
  } else if (type !== undefined && (typeof type !== "string" || type === "")) {
    problems.push({ field: "spec.platform.type", message: "must be a text that is not empty" });
  }
  const release = releaseOf(spec, problems);
  if (release !== undefined) problems.push(...channelProblems(release));
  refuse(problems);

  const version = releaseText(inherited, "version");
  if (version === undefined || releaseText(spec, "version") !== undefined) return spec;
  return { ...spec, release: { ...release, version } };
}

function withRelease(
  spec: JsonObject,
  { clusterVersion, channelGroup }: SpecDefaults,
  stored: JsonObject | undefined,
  problems: FieldProblem[],
): JsonObject {
  const given = releaseOf(spec, problems);
  const isWanted =
    given !== undefined ||
    clusterVersion !== undefined ||
    channelGroup !== undefined ||
    isJsonObject(member(stored ?? {}, "release"));
  if (!isWanted || problems.some(({ field }) => field === "spec.release")) return spec;

  const version = releaseText(spec, "version") ?? releaseText(stored, "version") ?? clusterVersion;
  const channel =
    releaseText(spec, "channelGroup") ?? releaseText(stored, "channelGroup") ?? channelGroup;
  const release: JsonObject = {
    ...(given ?? releaseOf(stored ?? {}, [])),
    ...(version === undefined ? {} : { version }),
    ...(channel === undefined ? {} : { channelGroup: channel }),
  };
  if (version === undefined) {
    problems.push({ field: "spec.release.version", message: "is required" });
  }
  if (channel === undefined) {
    problems.push({ field: "spec.release.channelGroup", message: "is required" });
  } else {
    problems.push(...channelProblems(release));
  }
  return { ...spec, release };
}

function infraIdProblems(spec: JsonObject): readonly FieldProblem[] {
  const platform = member(spec, "platform");
  const type = isJsonObject(platform) ? member(platform, "type") : undefined;
  const infraId = member(spec, "infraID");
  if (typeof type !== "string" || type.toLowerCase() !== "gcp" || infraId === undefined) return [];
  if (typeof infraId === "string" && infraId.length <= 15 && /^[a-z][-a-z0-9]*$/.test(infraId)) {
    return [];
  }
  const message = "must be at most 15 small letters, digits and dashes, beginning with a letter";
  return [{ field: "spec.infraID", message }];
}

function releaseOf(spec: JsonObject, problems: FieldProblem[]): JsonObject | undefined {
  const release = member(spec, "release");
  if (release === undefined) return undefined;
  if (!isJsonObject(release)) {
    problems.push({ field: "spec.release", message: "must be an object" });
    return undefined;
  }
  for (const key of ["version", "channelGroup"]) {
    const value = member(release, key);
    if (value !== undefined && value !== null && typeof value !== "string") {
      problems.push({ field: `spec.release.${key}`, message: "must be a text" });
    }
  }
  return release;
}

function channelProblems(release: JsonObject): readonly FieldProblem[] {
  const channel = member(release, "channelGroup");
  if (channel === undefined || channel === null || channel === "") return [];
  if (channelGroups.some((one) => one === channel)) return [];
  const message = `must be one of ${channelGroups.join(", ")}`;
  return [{ field: "spec.release.channelGroup", message }];
}

/** A text of the release; one that is empty counts as missing. */
function releaseText(
  spec: JsonObject | undefined,
  key: "version" | "channelGroup",
): string | undefined {
  const release = spec === undefined ? undefined : member(spec, "release");
  const text = isJsonObject(release) ? member(release, key) : undefined;
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}

function isCount(value: Json): boolean {
  const number = value instanceof JsonNumber ? value.valueOf() : value;
  if (typeof number === "bigint") return number >= 0n;
  return typeof number === "number" && Number.isInteger(number) && number >= 0;
}

function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** Of several about one field the first counts. */
function refuse(problems: readonly FieldProblem[]): void {
  const seen = new Map(problems.map((problem) => [problem.field, problem] as const).toReversed());
  refuseProblems([...seen.values()].toReversed());
}
