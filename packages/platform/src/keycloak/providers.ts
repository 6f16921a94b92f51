// The identity providers of a realm, made, changed and taken away.

import type { ProviderName } from "../kinds/application.ts";
import type { Keycloak } from "./keycloak.ts";
import { isGone } from "./keycloak-errors.ts";
import {
  discoveredBefore,
  isOurs,
  providerToWrite,
  type Discovered,
  type Provider,
  type ProviderSource,
} from "./provider-plan.ts";

export interface ProvidersWanted {
  /** The providers that the app asks for. */
  readonly providers: readonly ProviderName[];
  /** Those of them that are known. One that is not stays as it is: its users' accounts are linked to it. */
  readonly sources: readonly ProviderSource[];
  /** What becomes of one that the app asks for no longer: gone with the links of its users, or switched off. */
  readonly policy: "Delete" | "Retain";
}

/** Resolves with the names of the calls that were needed. What others have added is left alone. */
export async function ensureProviders(
  keycloak: Keycloak,
  { realm, providers, sources, policy }: ProvidersWanted & { readonly realm: string },
  signal: AbortSignal,
): Promise<string[]> {
  const found: readonly Provider[] = await keycloak.call(
    { name: "findProviders", realm },
    (api) => api.identityProviders.find({ realm }),
    signal,
  );
  const changes: string[] = [];
  // First: nobody shall come in by it any more, whatever becomes of the others.
  const unwanted = found.filter(
    (one) => isOurs(one) && !providers.some((provider) => provider === one.alias),
  );
  for (const provider of unwanted) {
    changes.push(...(await dismiss(keycloak, { realm, provider, policy }, signal)));
  }
  const known = sources.map((source) => {
    const before = found.find(({ alias }) => alias === source.provider);
    return { source, before, discovered: discoveredBefore(before, source) };
  });
  const isAsked = ({ discovered }: (typeof known)[number]) => Number(discovered === undefined);
  // Last those of which somebody else is asked, who may be away.
  for (const { source, before, discovered } of known.toSorted((a, b) => isAsked(a) - isAsked(b))) {
    const desired = providerToWrite(
      before,
      source,
      discovered ?? (await discover(keycloak, { realm, source }, signal)),
    );
    if (desired === undefined) continue;
    const name = before === undefined ? "createProvider" : "updateProvider";
    await keycloak.call(
      { name, realm, secrets: [source.settings["clientSecret"] ?? ""] },
      async (api) => {
        if (before === undefined) await api.identityProviders.create({ realm, ...desired });
        else await api.identityProviders.update({ realm, alias: source.provider }, desired);
      },
      signal,
    );
    changes.push(`${name} ${source.provider}`);
  }
  return changes;
}

/** Keycloak itself reads at the address: it is Keycloak that must reach the provider. */
async function discover(
  keycloak: Keycloak,
  { realm, source }: { readonly realm: string; readonly source: ProviderSource },
  signal: AbortSignal,
): Promise<Discovered> {
  const { provider, metadataUrl = "" } = source;
  return await keycloak.call(
    { name: "discoverProvider", realm },
    (api) =>
      api.identityProviders.importFromUrl({ realm, providerId: provider, fromUrl: metadataUrl }),
    signal,
  );
}

async function dismiss(
  keycloak: Keycloak,
  {
    realm,
    provider,
    policy,
  }: {
    readonly realm: string;
    readonly provider: Provider;
    readonly policy: "Delete" | "Retain";
  },
  signal: AbortSignal,
): Promise<string[]> {
  const { alias = "", enabled } = provider;
  if (policy === "Retain") {
    if (enabled === false) return [];
    await keycloak.call(
      { name: "disableProvider", realm },
      (api) => api.identityProviders.update({ realm, alias }, { ...provider, enabled: false }),
      signal,
    );
    return [`disableProvider ${alias}`];
  }
  try {
    await keycloak.call(
      { name: "deleteProvider", realm },
      (api) => api.identityProviders.del({ realm, alias }),
      signal,
    );
  } catch (error) {
    if (!isGone(error)) throw error;
  }
  return [`deleteProvider ${alias}`];
}
