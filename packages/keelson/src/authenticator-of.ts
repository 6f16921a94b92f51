import type { Clock, Log } from "@keelson/base";
import type { Config } from "./config.ts";
import type { Authenticator } from "./rest/identity/authenticator.ts";
import { gatewayAuthenticator } from "./rest/identity/gateway.ts";
import { believingAuthenticator } from "./rest/identity/none.ts";
import { StartError } from "./start-error.ts";

/** The authenticator that the configuration asks for. Slow ones are loaded only where they are used. */
export async function authenticatorOf(
  config: Config,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Authenticator> {
  switch (config.authMode) {
    case "none":
      return believingAuthenticator();
    case "gateway":
      return gatewayAuthenticator({
        secret: config.authGatewaySecret,
        acceptsCertificates: config.authGatewayClientCa !== undefined,
      });
    case "token": {
      const { tokenAuthenticator } = await import("./rest/identity/token.ts");
      return tokenAuthenticator({ tokensFile: given(config, "tokensFile"), clock, log });
    }
    case "oidc": {
      const { oidcAuthenticator } = await import("./rest/identity/oidc.ts");
      return oidcAuthenticator({
        issuer: given(config, "oidcIssuer"),
        audience: given(config, "oidcAudience"),
        emailClaim: config.oidcEmailClaim,
        rolesClaim: config.oidcRolesClaim,
        organizationClaim: config.oidcOrganizationClaim,
        clock,
      });
    }
  }
}

/** A setting that the rules of the configuration have made sure of. */
function given(config: Config, key: "tokensFile" | "oidcIssuer" | "oidcAudience"): string {
  const value = config[key];
  if (value === undefined) throw new StartError("USAGE", `${key} is missing`);
  return value;
}
