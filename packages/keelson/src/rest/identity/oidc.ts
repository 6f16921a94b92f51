// Bearer JWTs of an OpenID provider: signature, issuer, audience and time, then e-mail and roles from claims.

import { fleetRoleFrom, RestError, type Clock, type Identity } from "@keelson/base";
import { createRemoteJWKSet, errors, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from "jose";
import { trustedUrl } from "../../config/kinds.ts";
import {
  bearerToken,
  invalidToken,
  namesOf,
  rolesFrom,
  type Authenticator,
} from "./authenticator.ts";

export interface OidcOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly emailClaim: string;
  /** A claim, or a path to one inside others: `realm_access.roles`. */
  readonly rolesClaim: string;
  readonly organizationClaim: string | undefined;
  readonly clock: Clock;
}

/**
 * Believes tokens that the issuer signed for us. The keys are found by discovery at the first token, kept, and
 * fetched again when a token names an unknown one (at most twice a minute).
 */
export function oidcAuthenticator(options: OidcOptions): Authenticator {
  const { issuer, audience, clock } = options;
  const keys = keysOf(issuer, clock);
  return {
    isAuthenticated: true,
    authenticate: async (request) => {
      const token = bearerToken(request);
      try {
        const { payload } = await jwtVerify(token, await keys(), {
          issuer,
          audience,
          algorithms,
          requiredClaims: ["exp"],
          clockTolerance: clockToleranceSeconds,
          currentDate: new Date(clock.now()),
        });
        return identityFrom(payload, options);
      } catch (error) {
        throw refusalFor(error);
      }
    },
  };
}

/** Only signatures that the holder of the public key cannot make. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** Clocks of two machines are never quite the same. */
const clockToleranceSeconds = 5;
const requestTimeoutMs = 5_000;

function identityFrom(payload: JWTPayload, options: OidcOptions): Identity {
  const { emailClaim, rolesClaim, organizationClaim } = options;
  const email = claimAt(payload, emailClaim);
  if (typeof email !== "string") {
    throw invalidToken(`the token has no e-mail address in its claim ${emailClaim}`);
  }
  if (emailClaim === "email" && payload["email_verified"] === false) {
    throw new RestError("INVALID_EMAIL", "the caller's e-mail address has not been verified");
  }
  const roles = rolesIn(claimAt(payload, rolesClaim));
  const organization = organizationClaim && claimAt(payload, organizationClaim);
  const organizationId = typeof organization === "string" ? organization : undefined;
  return {
    ...namesOf({ email, roles, organizationId }),
    fleetRole: fleetRoleFrom(roles),
    clusters: "all",
    readOnly: false,
  };
}

/** The claim of this very name (some are URLs with dots), else the one that the dots lead to. */
function claimAt(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name
    .split(".")
    .reduce<unknown>(
      (value, part) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, part)
          ? (value as Record<string, unknown>)[part]
          : undefined,
      payload,
    );
}

/** Providers write roles as a list, or as one text with commas or spaces. */
function rolesIn(claim: unknown): readonly string[] {
  if (typeof claim === "string") return rolesFrom(claim.replaceAll(/\s+/g, ","));
  return Array.isArray(claim) ? claim.filter((role) => typeof role === "string") : [];
}

/** Gives the issuer's keys. A discovery that failed is tried again by the next caller. */
function keysOf(issuer: string, clock: Clock): () => Promise<JWTVerifyGetKey> {
  let found: Promise<JWTVerifyGetKey> | undefined;
  return () => {
    found ??= discover(issuer, clock).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

async function discover(issuer: string, clock: Clock): Promise<JWTVerifyGetKey> {
  const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(url, { signal: clock.timeout(requestTimeoutMs), redirect: "error" });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  const { issuer: says, jwks_uri: keysUrl } = (await answer.json()) as Record<string, unknown>;
  if (says !== issuer) throw new Error(`${url} says that its issuer is ${String(says)}`);
  if (typeof keysUrl !== "string") throw new Error(`${url} names no jwks_uri`);
  trustedUrl.read(keysUrl, { folder: "" });
  return createRemoteJWKSet(new URL(keysUrl), { timeoutDuration: requestTimeoutMs });
}

/** What is wrong with the token is told; what is wrong between us and the provider is not the caller's doing. */
function refusalFor(error: unknown): RestError {
  if (error instanceof RestError) return error;
  if (error instanceof errors.JWTExpired)
    return invalidToken("the token has expired", { cause: error });
  if (error instanceof errors.JWTClaimValidationFailed) {
    return invalidToken(`the token's claim ${error.claim} is not as it must be`, { cause: error });
  }
  const isBroken =
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys;
  if (isBroken) return invalidToken("the token is not valid", { cause: error });
  return new RestError("IDENTITY_PROVIDER_UNAVAILABLE", "the identity provider cannot be asked", {
    cause: error,
  });
}
