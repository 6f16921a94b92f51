// The OIDC client of an app, as it shall be.

import type { Fields } from "./differences.ts";

/** Where a login may lead back to, and from where browsers may ask. */
export interface ClientUrls {
  readonly redirectUris: readonly string[];
  readonly webOrigins: readonly string[];
}

/** For browsers: no secret, a code that only its asker can use (PKCE), and nobody types a password into the app. */
export function clientFields({ redirectUris, webOrigins }: ClientUrls) {
  return {
    enabled: true,
    protocol: "openid-connect",
    publicClient: true,
    bearerOnly: false,
    standardFlowEnabled: true,
    implicitFlowEnabled: false,
    directAccessGrantsEnabled: false,
    serviceAccountsEnabled: false,
    redirectUris: [...redirectUris],
    webOrigins: [...webOrigins],
    attributes: { "pkce.code.challenge.method": "S256" },
  } satisfies Fields;
}
