// The attributes of a realm that say whose it is.

import type KeycloakAdminClient from "@keycloak/keycloak-admin-client";
import type { Mark } from "../ownership/claim.ts";
import { ownerKey, ownerText, parseOwner, retainedKey } from "../ownership/owner.ts";

/** As Keycloak has it. */
export type Realm = Awaited<ReturnType<KeycloakAdminClient["realms"]["find"]>>[number];

/** Undefined for a realm that nobody of ours has made. */
export function markOf({ attributes = {} }: Realm): Mark | undefined {
  const text: unknown = attributes[ownerKey];
  const owner = parseOwner(typeof text === "string" ? text : undefined);
  return owner && { owner, isRetained: attributes[retainedKey] === "true" };
}

/** The attributes with this mark and no other. */
export function withMark(
  { owner, isRetained }: Mark,
  attributes: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const { [ownerKey]: _owner, [retainedKey]: _retained, ...others } = attributes;
  return {
    ...others,
    [ownerKey]: ownerText(owner),
    ...(isRetained ? { [retainedKey]: "true" } : {}),
  };
}
