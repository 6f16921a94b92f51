// The tokens of ServiceAccounts: JWTs that we sign, and that hold as long as what they are bound to exists.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";

import { isJsonObject, readJson, type Clock, type JsonObject } from "@keelson/base";
import { memberOf } from "@keelson/kube";

import type { Authenticated } from "./authenticator.ts";
import { BadCredentials } from "./bad-credentials.ts";
import { objectAt, textAt, textsAt } from "../fields.ts";
import { quoteList } from "./rbac/covers.ts";
import { RecentMap } from "./recent-map.ts";
import { checkBoundObjects, type BoundObjects } from "./bound-objects.ts";
import { serviceAccountGroups, serviceAccountUser } from "./service-account-name.ts";
import type { TokenAuthenticator } from "./token-authenticator.ts";
import type { User } from "./user.ts";

export interface ServiceAccountTokensOptions {
  /** The `iss` of tokens. */
  readonly issuer: string;
  /** What a token is good for if nothing is said: by default the issuer. */
  readonly audiences: readonly string[];
  /** What signs: a private key on P-256, PEM. */
  readonly key: string;
  /** Public keys that signed tokens before, PEM. */
  readonly formerKeys?: readonly string[];
  readonly clock: Clock;
  readonly objects: BoundObjects;
}

/** Signs and checks tokens. A signature is checked once and remembered; what a token is bound to is asked every time. */
export class ServiceAccountTokens implements TokenAuthenticator {
  readonly #options: ServiceAccountTokensOptions;
  readonly #key: KeyObject;
  readonly #keyId: string;
  readonly #publicKeys: ReadonlyMap<string, KeyObject>;
  readonly #verified = new RecentMap<string, JsonObject>({ sizeMax: verifiedMax });

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.#key = createPrivateKey(options.key);
    const keys = [createPublicKey(options.key), ...(options.formerKeys ?? []).map(createPublicKey)];
    this.#publicKeys = new Map(keys.map((key) => [keyIdOf(key), key]));
    this.#keyId = keyIdOf(createPublicKey(options.key));
  }

  get issuer(): string {
    return this.#options.issuer;
  }

  get audiences(): readonly string[] {
    return this.#options.audiences;
  }

  /** The public keys by their ids, for whoever checks tokens elsewhere. */
  get publicKeys(): ReadonlyMap<string, KeyObject> {
    return this.#publicKeys;
  }

  /** A token with these claims and our `iss`. */
  sign(claims: JsonObject): string {
    const header = encode({ alg: "ES256", kid: this.#keyId });
    const sorted = Object.entries({ ...claims, iss: this.#options.issuer }).sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    const signed = `${header}.${encode(Object.fromEntries(sorted))}`;
    const signature = sign("sha256", Buffer.from(signed), { key: this.#key, dsaEncoding });
    return `${signed}.${signature.toString("base64url")}`;
  }

  async authenticateToken(
    token: string,
    wanted: readonly string[],
    signal: AbortSignal,
  ): Promise<Authenticated | undefined> {
    const claims = this.#verified.get(token) ?? this.#verify(token);
    if (claims === undefined) return undefined;
    const named = audiencesOf(claims);
    const audiences = named.length === 0 ? this.#options.audiences : named;
    const common = audiences.filter((audience) => wanted.includes(audience));
    if (common.length === 0) {
      const lists = `${quoteList(audiences)} is invalid for the target audiences ${quoteList(wanted)}`;
      throw new BadCredentials(`token audiences ${lists}`);
    }
    const nowMs = this.#options.clock.now();
    checkTimes(claims, nowMs);
    const bound = objectAt(claims, claimName);
    await checkBoundObjects(bound, { objects: this.#options.objects, nowMs }, signal);
    return { user: userOf(claims, bound), audiences: common };
  }

  /** The claims of a token of ours; undefined if it is somebody else's. */
  #verify(token: string): JsonObject | undefined {
    const [header = "", payload = "", signature = "", ...more] = token.split(".");
    if (more.length > 0 || signature === "" || token.length > tokenLengthMax) return undefined;
    const claims = decode(payload);
    if (claims === undefined || textAt(claims, "iss") !== this.#options.issuer) return undefined;
    const read = decode(header);
    if (read === undefined) return undefined;
    const keyId = textAt(read, "kid");
    const known = this.#publicKeys.get(keyId);
    const keys = known === undefined ? [...this.#publicKeys.values()] : [known];
    const data = Buffer.from(`${header}.${payload}`);
    const bytes = Buffer.from(signature, "base64url");
    const isOurs =
      textAt(read, "alg") === "ES256" &&
      keys.some((key) => verify("sha256", data, { key, dsaEncoding }, bytes));
    if (!isOurs) throw new BadCredentials(badSignature);
    this.#verified.set(token, claims);
    return claims;
  }
}

/** The claim that tells what a token is bound to. */
export const claimName = "kubernetes.io";

const verifiedMax = 4096;
const tokenLengthMax = 16_384;
const leewayMs = 60_000;
const dsaEncoding = "ieee-p1363";
const badSignature = "go-jose/go-jose: error in cryptographic primitive";

const extraKeys = {
  credential: "authentication.kubernetes.io/credential-id",
  podName: "authentication.kubernetes.io/pod-name",
  podUid: "authentication.kubernetes.io/pod-uid",
  nodeName: "authentication.kubernetes.io/node-name",
  nodeUid: "authentication.kubernetes.io/node-uid",
} as const;

function userOf(claims: JsonObject, bound: JsonObject): User {
  const namespace = textAt(bound, "namespace");
  const account = objectAt(bound, "serviceaccount");
  const pod = objectAt(bound, "pod");
  const node = objectAt(bound, "node");
  const id = textAt(claims, "jti");
  const facts: readonly (readonly [string, string])[] = [
    [extraKeys.credential, id === "" ? "" : `JTI=${id}`],
    [extraKeys.nodeName, textAt(node, "name")],
    [extraKeys.nodeUid, textAt(node, "uid")],
    [extraKeys.podName, textAt(pod, "name")],
    [extraKeys.podUid, textAt(pod, "uid")],
  ];
  return {
    name: serviceAccountUser({ namespace, name: textAt(account, "name") }),
    uid: textAt(account, "uid"),
    groups: serviceAccountGroups(namespace),
    extra: Object.fromEntries(
      facts.filter(([, fact]) => fact !== "").map(([key, fact]) => [key, [fact]]),
    ),
  };
}

/** Clocks may differ by a minute. */
function checkTimes(claims: JsonObject, nowMs: number): void {
  const [expiry, notBefore, issuedAt] = ["exp", "nbf", "iat"].map((name) => momentOf(claims, name));
  if (notBefore !== undefined && nowMs + leewayMs < notBefore) {
    throw new BadCredentials("service account token is not valid yet");
  }
  if (expiry !== undefined && nowMs - leewayMs > expiry) {
    throw new BadCredentials("service account token has expired");
  }
  if (issuedAt !== undefined && nowMs + leewayMs < issuedAt) {
    throw new BadCredentials("service account token is issued in the future");
  }
}

function momentOf(claims: JsonObject, name: string): number | undefined {
  const value = memberOf(claims, name);
  return value === undefined || value === null ? undefined : Number(value) * 1000;
}

function audiencesOf(claims: JsonObject): readonly string[] {
  const one = textAt(claims, "aud");
  return one === "" ? textsAt(claims, "aud") : [one];
}

/** The hash of a public key, which is how tokens name theirs. */
function keyIdOf(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decode(part: string): JsonObject | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined;
  try {
    const value = readJson(Buffer.from(part, "base64url").toString());
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
