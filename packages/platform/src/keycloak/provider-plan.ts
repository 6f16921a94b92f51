// The identity providers of a realm: what they shall be, and what is missing of that.

import type KeycloakAdminClient from "@keycloak/keycloak-admin-client";
import type { ProviderName } from "../kinds/application.ts";
import { platformGroup } from "../kinds/platform-group.ts";
import { differences, isNone } from "./differences.ts";

/** What the platform's administrators have said of a provider. */
export interface ProviderSource {
  readonly provider: ProviderName;
  /** Changes whenever the rest does. Keycloak keeps it beside the secret, which it shows to nobody. */
  readonly version: string;
  /** What Keycloak keeps of it as it stands: who we are there. */
  readonly settings: Readonly<Record<string, string>>;
  /** Where the provider tells the rest of itself. */
  readonly metadataUrl: string | undefined;
}

/** What Keycloak read at a provider's address. */
export type Discovered = Readonly<Record<string, string>>;

/** As Keycloak has it. */
export type Provider = Awaited<
  ReturnType<KeycloakAdminClient["identityProviders"]["find"]>
>[number];

const versionKey = `${platformGroup}/version`;
const discoveredKey = `${platformGroup}/discovered`;
const shownAs = "**********";

/** Whether it was made by us. */
export function isOurs({ config }: Provider): boolean {
  return typeof config?.[versionKey] === "string";
}

/** What was read at the address when this version was written, so that a repair need not ask there. */
export function discoveredBefore(
  found: Provider | undefined,
  { version, metadataUrl }: ProviderSource,
): Discovered | undefined {
  if (metadataUrl === undefined) return {};
  if (found?.config?.[versionKey] !== version) return undefined;
  try {
    return JSON.parse(String(found.config[discoveredKey])) as Discovered;
  } catch {
    return undefined; // Somebody wrote something else there.
  }
}

/** The provider as it is to be written, or undefined if it is so already. Fields that are not ours stay. */
export function providerToWrite(
  found: Provider | undefined,
  { provider, version, settings, metadataUrl }: ProviderSource,
  discovered: Discovered,
): Provider | undefined {
  const config = {
    ...discovered,
    ...settings,
    [versionKey]: version,
    ...(metadataUrl === undefined ? {} : { [discoveredKey]: JSON.stringify(discovered) }),
  };
  const fields = { alias: provider, providerId: provider, enabled: true };
  if (found !== undefined) {
    const shown: Record<string, string> = { ...config };
    if ("clientSecret" in shown) shown["clientSecret"] = shownAs;
    if (isNone(differences({ ...fields, config: shown }, found))) return undefined;
  }
  return { ...found, ...fields, config: { ...found?.config, ...config } };
}
