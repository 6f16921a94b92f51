// Acting as somebody else (KB 62): `Impersonate-User` and its like.

import { failures, quote } from "@keelson/kube";

import type { Attributes, Authorizer } from "./authorizer.ts";
import { decodeHeaderKey, headerValues, type Headers } from "./headers.ts";
import {
  impersonationModes,
  type ImpersonationMode,
  type WantedUser,
} from "./impersonation-modes.ts";
import { RecentMap } from "./recent-map.ts";
import type { User } from "./user.ts";

export interface ImpersonationRequest {
  readonly user: User;
  readonly headers: Headers;
  /** What the request itself wants to do. */
  readonly attributes: Attributes;
}

export interface Impersonated {
  readonly user: User;
  /** The verb that allowed it, for the audit; empty for the plain `impersonate`. */
  readonly constraint: string;
}

/** Whether a header is about impersonation: nothing behind it may see one. */
export function isImpersonationHeader(name: string): boolean {
  // Most headers begin otherwise, and every request is asked.
  const first = name.charCodeAt(0) | 0x20;
  return first === 0x69 && name.toLowerCase().startsWith("impersonate-");
}

/** Decides who may act as whom. */
export class Impersonation {
  readonly #modes: readonly ImpersonationMode[];
  /** The mode that last worked for a user is tried first: people use one. */
  readonly #lastModes = new RecentMap<string, ImpersonationMode>({ sizeMax: usersMax });

  constructor(authorizer: Authorizer) {
    this.#modes = impersonationModes(authorizer);
  }

  /**
   * The user as whom the request is to be carried out; undefined if it does not ask for another. Throws a 403 if the
   * caller may not, a 400 if the headers name no user.
   */
  async impersonate(
    { user, headers, attributes }: ImpersonationRequest,
    signal: AbortSignal,
  ): Promise<Impersonated | undefined> {
    const wanted = readWanted(headers);
    if (wanted === undefined) return undefined;
    const last = this.#lastModes.get(user.name);
    const modes = [
      ...(last === undefined ? [] : [last]),
      ...this.#modes.filter((one) => one !== last),
    ];
    let refusal: unknown;
    for (const mode of modes) {
      if (!mode.applies(wanted, user)) continue;
      try {
        const acting = await mode.check({ wanted, user, attributes }, signal);
        this.#lastModes.set(user.name, mode);
        return { user: acting, constraint: mode.constraint };
      } catch (error) {
        refusal ??= error;
      }
    }
    throw refusal;
  }
}

const usersMax = 10_000;
const extraPrefix = "impersonate-extra-";

/** What the headers ask for; undefined if nothing. Throws a 400 if they ask for parts of nobody. */
function readWanted(headers: Headers): WantedUser | undefined {
  const [name = ""] = headerValues(headers, "impersonate-user");
  const [uid = ""] = headerValues(headers, "impersonate-uid");
  const groups = headerValues(headers, "impersonate-group");
  const extra = new Map<string, readonly string[]>();
  for (const header of Object.keys(headers)) {
    if (!header.startsWith(extraPrefix)) continue;
    const key = decodeHeaderKey(header.slice(extraPrefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...headerValues(headers, header)]);
  }
  const wanted = { name, uid, groups, extra };
  if (name !== "") return wanted;
  if (uid === "" && groups.length === 0 && extra.size === 0) return undefined;
  throw failures.badRequest(`requested ${describe(wanted)} without impersonating a user name`);
}

/** The wish as Go prints its structure, because that is what the real server says. */
function describe({ name, uid, groups, extra }: WantedUser): string {
  const list = (items: readonly string[]): string => `[]string{${items.map(quote).join(", ")}}`;
  const groupList = groups.length === 0 ? "[]string(nil)" : list(groups);
  const entries = [...extra]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, values]) => `${quote(key)}:${list(values)}`);
  const extras = extra.size === 0 ? "(nil)" : `{${entries.join(", ")}}`;
  const fields = `Name:${quote(name)}, UID:${quote(uid)}, Groups:${groupList}, Extra:map[string][]string${extras}`;
  return `&user.DefaultInfo{${fields}}`;
}
