import type { Identity } from "../identity.ts";

/** An identity for tests: `user@example.com`, admin of every cluster in fleet, without roles, unless told otherwise. */
export function testIdentity(overrides: Partial<Omit<Identity, "domain">> = {}): Identity {
  const { user = "user@example.com" } = overrides;
  return {
    roles: [],
    fleetRole: "admin",
    clusters: "all",
    readOnly: false,
    ...overrides,
    user,
    domain: user.slice(user.indexOf("@") + 1),
  };
}
