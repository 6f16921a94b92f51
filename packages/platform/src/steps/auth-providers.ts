// What the platform's administrators have said of the identity providers: a Secret for each, in the operator's namespace.

import type { DynamicObject } from "@keelson/client";
import type { ProviderSource } from "../keycloak/provider-plan.ts";
import type { ProviderName } from "../kinds/application.ts";
import { providerSecretName } from "../names/names.ts";

/** The keys that the Secret of a provider must have. */
const keysOf: Readonly<Record<ProviderName, readonly string[]>> = {
  google: ["clientId", "clientSecret"],
  github: ["clientId", "clientSecret"],
  oidc: ["clientId", "clientSecret", "issuerUrl"],
  saml: ["metadataUrl"],
};

/** What is needed to make a provider; a text says what is missing for it. */
export function readProvider(
  provider: ProviderName,
  { secret, namespace }: { readonly secret: DynamicObject | undefined; readonly namespace: string },
): ProviderSource | string {
  const what = `Secret ${namespace}/${providerSecretName(provider)}`;
  if (secret === undefined) return `${provider}: there is no ${what}`;
  const values = valuesOf(secret);
  const missing = keysOf[provider].filter((key) => (values[key] ?? "") === "");
  if (missing.length > 0) return `${provider}: ${what} has no ${missing.join(" and no ")}`;
  const { uid = "", resourceVersion = "" } = secret.metadata;
  return {
    provider,
    version: `${uid}/${resourceVersion}`,
    settings: settingsOf(provider, values),
    metadataUrl: metadataUrlOf(provider, values),
  };
}

/** In the words of Keycloak. To a SAML provider we may be known by a name of our own, else by the realm's address. */
function settingsOf(
  provider: ProviderName,
  { clientId = "", clientSecret = "" }: Readonly<Record<string, string>>,
): Record<string, string> {
  if (provider !== "saml") return { clientId, clientSecret };
  return clientId === "" ? {} : { entityId: clientId };
}

function metadataUrlOf(
  provider: ProviderName,
  { issuerUrl = "", metadataUrl = "" }: Readonly<Record<string, string>>,
): string | undefined {
  if (provider === "saml") return metadataUrl;
  if (provider !== "oidc") return undefined;
  return `${issuerUrl.replace(/\/+$/, "")}/.well-known/openid-configuration`;
}

function valuesOf(secret: DynamicObject): Record<string, string> {
  const data = (secret["data"] ?? {}) as Readonly<Record<string, string>>;
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      // People end the lines of the files that they make Secrets of.
      Buffer.from(value, "base64").toString().trim(),
    ]),
  );
}
