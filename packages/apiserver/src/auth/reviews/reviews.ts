// Questions that are asked by creating an object, and answered in it; none is ever stored (KB 63).

import { timeFromMs, failures, type FieldError } from "@keelson/kube";
import { append, type Clock, type JsonObject } from "@keelson/base";

import { namespaceOf } from "../../object-metadata.ts";
import type { Authorizer } from "../authorizer.ts";
import { BadCredentials } from "../bad-credentials.ts";
import { objectAt, textAt, textsAt } from "../../fields.ts";
import { writeRule } from "../rbac/policy-rule.ts";
import { joinErrors, missingRole, type RbacRules } from "../rbac/rbac-rules.ts";
import { authenticateBearer, type TokenAuthenticator } from "../token-authenticator.ts";
import { withAuthenticatedGroup } from "../union.ts";
import type { User } from "../user.ts";
import {
  attributesOf,
  invalid,
  metadataProblem,
  selectorError,
  shownPath,
  specProblems,
} from "./access-attributes.ts";

export interface ReviewDependencies {
  readonly authorizer: Authorizer;
  readonly rules: RbacRules;
  readonly tokens: TokenAuthenticator;
  /** What a token is for unless the review says otherwise. */
  readonly audiences: readonly string[];
  readonly clock: Clock;
}

/** Who asks, and where; the namespace is empty outside of one. */
export interface ReviewRequest {
  readonly user: User;
  readonly namespace: string;
}

export type ReviewKind = keyof typeof reviews;

/** Whether creating an object of this kind asks a question. */
export function isReview(kind: string): kind is ReviewKind {
  return Object.hasOwn(reviews, kind);
}

/**
 * The object with its answer. It has been read and defaulted as its kind says; what its rules refuse is thrown as the
 * real server says it.
 */
export async function answerReview(
  kind: ReviewKind,
  { object, ...request }: ReviewRequest & { readonly object: JsonObject },
  dependencies: ReviewDependencies,
  signal: AbortSignal,
): Promise<JsonObject> {
  return await reviews[kind]({ object, ...request, ...dependencies }, signal);
}

type Review = ReviewDependencies & ReviewRequest & { readonly object: JsonObject };

const reviews = {
  SubjectAccessReview: reviewSubject,
  LocalSubjectAccessReview: reviewLocalSubject,
  SelfSubjectAccessReview: reviewSelf,
  SelfSubjectRulesReview: reviewOwnRules,
  SelfSubjectReview: reviewOwnName,
  TokenReview: reviewToken,
} as const;

const authorization = { group: "authorization.k8s.io", kind: "" }; // The real server forgets the kind.

async function reviewSubject(review: Review, signal: AbortSignal): Promise<JsonObject> {
  const spec = objectAt(review.object, "spec");
  refuse([...specProblems(spec, { checksUser: true }), ...metadataProblems(review.object)]);
  return await answerAccess(review, subjectOf(spec), signal);
}

async function reviewLocalSubject(review: Review, signal: AbortSignal): Promise<JsonObject> {
  const { object, namespace } = review;
  const spec = objectAt(object, "spec");
  const home = namespaceOf(object);
  const errors = [...specProblems(spec, { checksUser: true })];
  append(errors, metadataProblems(object, "namespace"));
  const asked = attributesOf(spec);
  if (asked.isResource && asked.namespace !== home) {
    const field = "spec.resourceAttributes.namespace";
    errors.push(invalid(field, asked.namespace, "must match metadata.namespace"));
  }
  if (Object.hasOwn(spec, "nonResourceAttributes") && spec["nonResourceAttributes"] !== null) {
    const shown = shownPath(objectAt(spec, "nonResourceAttributes"));
    errors.push(invalid("spec.nonResourceAttributes", shown, "disallowed on this kind of request"));
  }
  refuse(errors);
  if (namespace !== home) {
    const text = `spec.resourceAttributes.namespace must match namespace: ${namespace}`;
    throw failures.badRequest(text);
  }
  return await answerAccess(review, subjectOf(spec), signal);
}

async function reviewSelf(review: Review, signal: AbortSignal): Promise<JsonObject> {
  const spec = objectAt(review.object, "spec");
  refuse([...specProblems(spec, { checksUser: false }), ...metadataProblems(review.object)]);
  return await answerAccess(review, review.user, signal);
}

async function reviewOwnRules({ object, user, rules }: Review): Promise<JsonObject> {
  const namespace = textAt(objectAt(object, "spec"), "namespace");
  if (namespace === "") throw failures.badRequest("no namespace on request");
  const held = rules.rulesFor(user, namespace);
  const resourceRules = held.rules
    .filter(({ resources }) => resources.length > 0)
    .map((rule) => writeRule({ ...rule, nonResourceURLs: [] }));
  const nonResourceRules = held.rules
    .filter(({ nonResourceURLs }) => nonResourceURLs.length > 0)
    .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs }));
  const error = held.missing.map(missingRole);
  return {
    ...typeOf(object),
    metadata: {},
    spec: {},
    status: {
      resourceRules,
      nonResourceRules,
      incomplete: false,
      ...(error.length === 0 ? {} : { evaluationError: joinErrors(error) }),
    },
  };
}

async function reviewOwnName({ object, user, clock }: Review): Promise<JsonObject> {
  return {
    ...typeOf(object),
    metadata: { creationTimestamp: timeFromMs(clock.now()) },
    status: { userInfo: userInfo(user) },
  };
}

async function reviewToken(review: Review, signal: AbortSignal): Promise<JsonObject> {
  const { object, namespace, tokens } = review;
  const spec = objectAt(object, "spec");
  const token = textAt(spec, "token");
  if (namespace !== "") {
    throw failures.badRequest(`namespace is not allowed on this type: ${namespace}`);
  }
  if (token === "")
    throw failures.badRequest("token is required for TokenReview in authentication");
  const named = textsAt(spec, "audiences");
  const audiences = named.length === 0 ? review.audiences : named;
  try {
    const found = await authenticateBearer(tokens, { token, audiences }, signal);
    const user = userInfo(withAuthenticatedGroup(found.user));
    const status = { authenticated: true, user, audiences: found.audiences ?? [] };
    return { ...object, status };
  } catch (error) {
    if (!(error instanceof BadCredentials)) throw error;
    // The server asks for its own token first, which is never this one, and tells that too.
    return {
      ...object,
      status: { user: {}, error: joinErrors(["invalid bearer token", error.message]) },
    };
  }
}

async function answerAccess(
  { object, authorizer }: Review,
  user: User,
  signal: AbortSignal,
): Promise<JsonObject> {
  const spec = objectAt(object, "spec");
  const decision = await authorizer.authorize(user, attributesOf(spec), signal);
  const { isAllowed, reason, evaluationError = "" } = decision;
  const error = [evaluationError, selectorError(spec)].filter((text) => text !== "").join("; ");
  const status = {
    allowed: isAllowed,
    ...(reason === "" ? {} : { reason }),
    ...(error === "" ? {} : { evaluationError: error }),
  };
  return { ...object, status };
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw failures.invalid(authorization, "", errors);
}

/** A question has no metadata but what the server itself adds. */
function metadataProblems(object: JsonObject, allowed = ""): readonly FieldError[] {
  const metadata = objectAt(object, "metadata");
  const isEmpty = Object.entries(metadata).every(
    ([key, value]) => key === "managedFields" || key === allowed || value === null || value === "",
  );
  if (isEmpty) return [];
  const detail = allowed === "" ? "must be empty" : `must be empty except for ${allowed}`;
  return [metadataProblem(metadata, detail)];
}

function subjectOf(spec: JsonObject): User {
  const extra = objectAt(spec, "extra");
  return {
    name: textAt(spec, "user"),
    uid: textAt(spec, "uid"),
    groups: textsAt(spec, "groups"),
    extra: Object.fromEntries(Object.keys(extra).map((key) => [key, textsAt(extra, key)])),
  };
}

function userInfo({ name, uid, groups, extra }: User): JsonObject {
  return {
    ...(name === "" ? {} : { username: name }),
    ...(uid === "" ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function typeOf(object: JsonObject): JsonObject {
  return { kind: textAt(object, "kind"), apiVersion: textAt(object, "apiVersion") };
}
