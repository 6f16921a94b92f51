// Callers whose identity a front proxy vouches for (KB 66).

import type { Authenticator, Credentials } from "./authenticator.ts";
import { BadCredentials } from "./bad-credentials.ts";
import { ClientVerifier, commonNameOf, type CertificateTrust } from "./client-certificates.ts";
import { decodeHeaderKey, headerValues, type Headers } from "./headers.ts";
import type { User } from "./user.ts";

/** Which headers carry the identity, and whose word is believed. */
export interface RequestHeaderNames {
  readonly user: readonly string[];
  readonly uid: readonly string[];
  readonly group: readonly string[];
  readonly extraPrefix: readonly string[];
  /** Common names of the proxies' certificates; empty: any that the authority has signed. */
  readonly allowedNames: readonly string[];
}

export const usualRequestHeaders: RequestHeaderNames = {
  user: ["x-remote-user"],
  uid: ["x-remote-uid"],
  group: ["x-remote-group"],
  extraPrefix: ["x-remote-extra-"],
  allowedNames: [],
};

export interface RequestHeaderOptions extends CertificateTrust {
  /** The names in force now. */
  readonly names: () => RequestHeaderNames;
}

/** Believes the headers of a client whose certificate is a front proxy's, and nobody else's. */
export function requestHeaderAuthenticator(options: RequestHeaderOptions): Authenticator {
  const verifier = new ClientVerifier(options);
  return {
    authenticate({ certificates, headers }: Credentials) {
      const [certificate] = certificates;
      const names = options.names();
      const user = userOf(headers, names);
      if (certificate === undefined || user === undefined) return undefined;
      const judge = () => {
        const name = commonNameOf(certificate);
        if (names.allowedNames.length > 0 && !names.allowedNames.includes(name)) {
          throw new BadCredentials(`x509: subject with cn=${name} is not in the allowed list`);
        }
        return { user };
      };
      const verified = verifier.verify(certificates);
      return verified === undefined ? judge() : verified.then(judge);
    },
  };
}

function userOf(headers: Headers, names: RequestHeaderNames): User | undefined {
  const name = firstOf(headers, names.user);
  if (name === "") return undefined;
  const extra: Record<string, string[]> = {};
  for (const prefix of names.extraPrefix) {
    const lower = prefix.toLowerCase();
    for (const header of Object.keys(headers)) {
      if (!header.startsWith(lower)) continue;
      const key = decodeHeaderKey(header.slice(lower.length));
      const known = Object.hasOwn(extra, key) ? (extra[key] ?? []) : [];
      Object.defineProperty(extra, key, {
        value: [...known, ...headerValues(headers, header)],
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  return {
    name,
    uid: firstOf(headers, names.uid),
    groups: names.group
      .flatMap((header) => headerValues(headers, header))
      .filter((one) => one !== ""),
    extra,
  };
}

function firstOf(headers: Headers, names: readonly string[]): string {
  for (const name of names) {
    const [value = ""] = headerValues(headers, name);
    if (value !== "") return value;
  }
  return "";
}
