// The ways in which somebody may be allowed to act as another: four that say what for, and the old one that does not.

import { dnsSubdomainProblems, quote } from "@keelson/kube";

import type { Attributes, Authorizer, ResourceAttributes } from "./authorizer.ts";
import { forbidden } from "./forbidden.ts";
import { parseServiceAccountUser, serviceAccountGroups } from "./service-account-name.ts";
import {
  anonymous,
  authenticatedGroup,
  mastersGroup,
  unauthenticatedGroup,
  type User,
} from "./user.ts";

/** As whom somebody wants to act. */
export interface WantedUser {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface ImpersonationCheck {
  readonly wanted: WantedUser;
  readonly user: User;
  /** What the request itself wants to do. */
  readonly attributes: Attributes;
}

export interface ImpersonationMode {
  /** The verb that allows it; empty for the plain `impersonate`. */
  readonly constraint: string;
  /** Whether this mode is for such a wish at all. */
  applies(wanted: WantedUser, user: User): boolean;
  /** Who the caller then is. Throws a 403 if it may not. */
  check(check: ImpersonationCheck, signal: AbortSignal): Promise<User>;
}

/** All modes, the narrowest first. */
export function impersonationModes(authorizer: Authorizer): readonly ImpersonationMode[] {
  const constrained = (
    name: string,
    applies: ImpersonationMode["applies"],
    judge: Authorizer = authorizer,
  ): ImpersonationMode => {
    const verb = `impersonate:${name}`;
    return {
      constraint: verb,
      applies,
      async check({ wanted, user, attributes }, signal) {
        const on: Attributes = { ...attributes, verb: `impersonate-on:${name}:${attributes.verb}` };
        await demand(judge, { user, attributes: on }, signal);
        return await actingUser(
          { authorizer: judge, verb, isConstrained: true },
          wanted,
          user,
          signal,
        );
      },
    };
  };
  return [
    constrained(
      "associated-node",
      (wanted, user) => isNameOnly(wanted) && isOnNode(user, wanted.name),
      anyNode(authorizer),
    ),
    constrained(
      "arbitrary-node",
      (wanted) => isNameOnly(wanted) && nodeOf(wanted.name) !== undefined,
    ),
    constrained(
      "serviceaccount",
      (wanted) => isNameOnly(wanted) && parseServiceAccountUser(wanted.name) !== undefined,
    ),
    constrained(
      "user-info",
      ({ name }) => nodeOf(name) === undefined && parseServiceAccountUser(name) === undefined,
    ),
    {
      constraint: "",
      applies: () => true,
      check: async ({ wanted, user }, signal) =>
        await actingUser(
          { authorizer, verb: "impersonate", isConstrained: false },
          wanted,
          user,
          signal,
        ),
    },
  ];
}

interface Mode {
  readonly authorizer: Authorizer;
  readonly verb: string;
  readonly isConstrained: boolean;
}

/** Asks for each part of the wish, and completes it. */
async function actingUser(
  mode: Mode,
  wanted: WantedUser,
  user: User,
  signal: AbortSignal,
): Promise<User> {
  const groups = await authorizeName(mode, { wanted, user }, signal);
  if (wanted.uid !== "") {
    await demand(mode.authorizer, { user, attributes: asked(mode, "uids", wanted.uid) }, signal);
  }
  await authorizeGroups(mode, { wanted, user }, signal);
  await authorizeExtra(mode, { wanted, user }, signal);
  return {
    name: wanted.name,
    uid: wanted.uid,
    groups: completeGroups(wanted.name, groups),
    extra: Object.fromEntries(wanted.extra),
  };
}

interface Wish {
  readonly wanted: WantedUser;
  readonly user: User;
}

/** The groups that come with the name. */
async function authorizeName(
  mode: Mode,
  { wanted, user }: Wish,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { name } = wanted;
  const account = parseServiceAccountUser(name);
  const node = mode.isConstrained ? nodeOf(name) : undefined;
  let attributes = asked(mode, "users", name);
  let { groups } = wanted;
  if (node !== undefined) {
    attributes = asked(mode, "nodes", node);
    groups = ["system:nodes"];
  } else if (account !== undefined) {
    attributes = { ...asked(mode, "serviceaccounts", account.name), namespace: account.namespace };
    if (groups.length === 0) groups = serviceAccountGroups(account.namespace);
  }
  await demand(mode.authorizer, { user, attributes }, signal);
  return groups;
}

async function authorizeGroups(
  mode: Mode,
  { wanted: { groups }, user }: Wish,
  signal: AbortSignal,
): Promise<void> {
  if (mode.isConstrained) {
    if (groups.includes("")) {
      const why = "impersonating the empty string group is not allowed";
      throw forbidden(user, asked(mode, "groups", ""), why);
    }
    if (groups.includes(mastersGroup)) {
      const why = "impersonating the system:masters group is not allowed";
      throw forbidden(user, asked(mode, "groups", mastersGroup), why);
    }
    if (
      groups.length >= many &&
      (await isAllowed(mode, { user, attributes: asked(mode, "groups", "*") }, signal))
    ) {
      return;
    }
  }
  for (const group of groups) {
    await demand(mode.authorizer, { user, attributes: asked(mode, "groups", group) }, signal);
  }
}

async function authorizeExtra(
  mode: Mode,
  { wanted: { extra }, user }: Wish,
  signal: AbortSignal,
): Promise<void> {
  const attributesOf = (key: string, value: string): ResourceAttributes => {
    return { ...asked(mode, "userextras", value), subresource: key };
  };
  if (mode.isConstrained) {
    const problem = [...extra].map(([key, values]) => extraProblem(key, values)).find(Boolean);
    if (problem !== undefined) throw forbidden(user, attributesOf("", ""), problem);
    const count = [...extra.values()].flat().length;
    const isLarge = extra.size >= many || count >= many;
    if (isLarge && (await isAllowed(mode, { user, attributes: attributesOf("*", "*") }, signal))) {
      return;
    }
  }
  for (const [key, values] of extra) {
    for (const value of values) {
      await demand(mode.authorizer, { user, attributes: attributesOf(key, value) }, signal);
    }
  }
}

/** From this many on it is asked first whether all are allowed. */
const many = 4;

interface Question {
  readonly user: User;
  readonly attributes: Attributes;
}

async function demand(
  authorizer: Authorizer,
  { user, attributes }: Question,
  signal: AbortSignal,
): Promise<void> {
  const decision = await authorizer.authorize(user, attributes, signal);
  if (decision.isAllowed) return;
  const { reason, evaluationError } = decision;
  const why = [evaluationError ?? "", reason].filter((part) => part !== "").join(": ");
  throw forbidden(user, attributes, why);
}

async function isAllowed(
  mode: Mode,
  { user, attributes }: Question,
  signal: AbortSignal,
): Promise<boolean> {
  return (await mode.authorizer.authorize(user, attributes, signal)).isAllowed;
}

/** Names and groups are of the core group only in the old mode. */
function asked({ verb, isConstrained }: Mode, resource: string, name: string): ResourceAttributes {
  const isCore = !isConstrained && resource !== "uids" && resource !== "userextras";
  return {
    isResource: true,
    verb,
    group: isCore ? "" : "authentication.k8s.io",
    version: "v1",
    resource,
    subresource: "",
    namespace: "",
    name,
  };
}

function completeGroups(name: string, groups: readonly string[]): readonly string[] {
  const group = name === anonymous.name ? unauthenticatedGroup : authenticatedGroup;
  if (groups.includes(unauthenticatedGroup) || groups.includes(group)) return groups;
  return [...groups, group];
}

function isNameOnly({ uid, groups, extra }: WantedUser): boolean {
  return uid === "" && groups.length === 0 && extra.size === 0;
}

/** Whether the caller is a ServiceAccount whose token says that it runs on that node. */
function isOnNode(user: User, wanted: string): boolean {
  const node = nodeOf(wanted);
  if (node === undefined || parseServiceAccountUser(user.name) === undefined) return false;
  const key = "authentication.kubernetes.io/node-name";
  const nodes = Object.hasOwn(user.extra, key) ? (user.extra[key] ?? []) : [];
  return nodes.length === 1 && nodes[0] === node;
}

/** The caller's own node is as good as any: it is asked whether all are allowed, and the caller's extra is kept out. */
function anyNode(authorizer: Authorizer): Authorizer {
  return {
    async authorize(user, attributes, signal) {
      const keys = Object.keys(user.extra).sort((a, b) => (a < b ? -1 : 1));
      const extra = { "authentication.kubernetes.io/associated-node-keys": keys };
      const isNode = attributes.isResource && attributes.verb === "impersonate:associated-node";
      const question = isNode ? { ...attributes, name: "*" } : attributes;
      const asking = { ...user, extra };
      const decision = await authorizer.authorize(asking, question, signal);
      // The refusal speaks of what was asked, not of what was wanted.
      if (!decision.isAllowed) throw forbidden(asking, question, decision.reason);
      return decision;
    },
  };
}

function nodeOf(user: string): string | undefined {
  const prefix = "system:node:";
  if (!user.startsWith(prefix)) return undefined;
  const name = user.slice(prefix.length);
  return dnsSubdomainProblems(name).length === 0 ? name : undefined;
}

/** What is wrong with a key of the extra and its values; undefined if nothing is. */
function extraProblem(key: string, values: readonly string[]): string | undefined {
  if (key === "") return "impersonating the empty string key in extra is not allowed";
  const problem = prefixedPathProblem(key);
  if (problem !== undefined)
    return `impersonating an invalid key in extra is not allowed: ${problem}`;
  if (key !== key.toLowerCase()) {
    return `impersonating a non-lowercase key in extra is not allowed: ${quote(key)}`;
  }
  if (values.length === 0) return "impersonating empty values in extra is not allowed";
  if (values.includes("")) return "impersonating the empty string value in extra is not allowed";
  return undefined;
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

function prefixedPathProblem(key: string): string | undefined {
  const slash = key.indexOf("/");
  const [host, path] = [key.slice(0, Math.max(slash, 0)), key.slice(slash + 1)];
  if (host === "" || path === "") {
    const detail = 'must be a domain-prefixed path (such as "acme.io/foo")';
    return `extra.key: Invalid value: ${quote(key)}: ${detail}`;
  }
  const problems = dnsSubdomainProblems(host).map((text) => [host, text] as const);
  const texts = [...problems];
  if (!new RegExp(`^${pathPattern}$`).test(path)) {
    texts.push([path, `Invalid path (regex used for validation is '${pathPattern}')`]);
  }
  const printed = texts.map(
    ([value, text]) => `extra.key: Invalid value: ${quote(value)}: ${text}`,
  );
  if (printed.length === 0) return undefined;
  return printed.length === 1 ? printed[0] : `[${printed.join(", ")}]`;
}
