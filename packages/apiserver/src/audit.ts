// One record for each finished request: who did what to which object, and how it ended. No bodies, no secrets.

import type { Attributes } from "./auth/authorizer.ts";
import type { User } from "./auth/user.ts";

export interface FinishedRequest {
  readonly auditId: string;
  /** Undefined if authentication failed. */
  readonly user: User | undefined;
  /** As whom the request was carried out, if as another. */
  readonly impersonated?: { readonly user: User; readonly constraint: string };
  /** Undefined if the request never got as far as to be understood. */
  readonly attributes: Attributes | undefined;
  /** The path without its query: selectors may hold what is nobody's business. */
  readonly path: string;
  readonly code: number;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly userAgent: string;
  readonly sourceAddress: string;
}

/** Told of every finished request, once. Must neither throw nor wait. */
export type Audit = (request: FinishedRequest) => void;

/** Writes a line of JSON for each request. */
export function auditLines(write: (line: string) => void): Audit {
  return (request) => write(`${JSON.stringify(auditRecord(request))}\n`);
}

/** What a line says. */
function auditRecord(request: FinishedRequest): Readonly<Record<string, unknown>> {
  const { auditId, user, impersonated, attributes, code, durationMs, startedAtMs } = request;
  return {
    time: new Date(startedAtMs).toISOString(),
    auditId,
    verb: attributes?.verb ?? "",
    ...(user === undefined ? {} : { user: shownUser(user) }),
    ...(impersonated === undefined
      ? {}
      : {
          impersonatedUser: shownUser(impersonated.user),
          ...(impersonated.constraint === "" ? {} : { constraint: impersonated.constraint }),
        }),
    path: cut(request.path),
    ...(attributes?.isResource === true ? { object: objectReference(attributes) } : {}),
    code,
    durationMs: Math.round(durationMs * 1000) / 1000,
    userAgent: cut(request.userAgent),
    sourceAddress: request.sourceAddress,
  };
}

const textMax = 1024;

/** The extra of a user may be long, and of a token it is the credential's id: that alone is told. */
function shownUser({ name, uid, groups, extra }: User): Readonly<Record<string, unknown>> {
  const key = "authentication.kubernetes.io/credential-id";
  const credential = Object.hasOwn(extra, key) ? extra[key]?.[0] : undefined;
  return {
    username: cut(name),
    ...(uid === "" ? {} : { uid: cut(uid) }),
    groups: groups.slice(0, 64).map(cut),
    ...(credential === undefined ? {} : { credentialId: cut(credential) }),
  };
}

function objectReference(attributes: Attributes & { readonly isResource: true }) {
  const { group, version, resource, subresource, namespace, name } = attributes;
  const parts = Object.entries({ group, version, resource, subresource, namespace, name });
  return Object.fromEntries(parts.filter(([, value]) => value !== ""));
}

function cut(text: string): string {
  return text.length <= textMax ? text : `${text.slice(0, textMax)}…`;
}
