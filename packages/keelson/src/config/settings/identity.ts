import { boolean, keys256, oneOf, pairs, path, text, trustedUrl } from "../kinds.ts";
import { alias, optional, setting, type Alias } from "../setting.ts";

/** `DISABLE_AUTH=true` says `none`; `false` leaves the choice to the others. */
const disableAuth: Alias = {
  variable: "DISABLE_AUTH",
  read: (text) => (boolean.read(text, { folder: "" }) ? "none" : undefined),
};

/** Who may call the REST API. */
export const identitySettings = {
  authMode: setting(
    oneOf(["none", "token", "gateway", "oidc"], { dev: "none" }),
    "how callers are recognised",
    ({ values }) =>
      values["tokensFile"] === undefined
        ? { text: "none", because: "no tokens file is given" }
        : { text: "token", because: "a tokens file is given" },
    { aliases: [alias("AUTH_MODE"), disableAuth] },
  ),
  tokensFile: optional(path, "tokens of mode token, JSON, reloaded when it changes"),
  authGatewaySecret: optional(text, "what the gateway sends as X-Gateway-Secret", {
    aliases: [alias("AUTH_GATEWAY_SECRET")],
    secret: "whole",
  }),
  authGatewayClientCa: optional(path, "authority of the gateway's client certificate, PEM", {
    aliases: [alias("AUTH_GATEWAY_CLIENT_CA")],
  }),
  oidcIssuer: optional(trustedUrl, "issuer of the tokens in mode oidc", {
    aliases: [alias("OIDC_ISSUER")],
    secret: "password",
  }),
  oidcAudience: optional(text, "audience that a token must name", {
    aliases: [alias("OIDC_AUDIENCE")],
  }),
  oidcEmailClaim: setting(text, "claim with the e-mail address", "email", {
    aliases: [alias("OIDC_EMAIL_CLAIM")],
  }),
  oidcRolesClaim: setting(text, "claim with the roles; dots lead inward", "roles", {
    aliases: [alias("OIDC_ROLES_CLAIM")],
  }),
  oidcOrganizationClaim: optional(text, "claim with the organization", {
    aliases: [alias("OIDC_ORGANIZATION_CLAIM")],
  }),
  controllerEmail: setting(
    text,
    "caller with the powers of a controller",
    "controller@system.local",
    {
      aliases: [alias("CONTROLLER_EMAIL")],
    },
  ),
  controllerIdentities: optional(pairs, "callers bound to a controller: email=name,…", {
    aliases: [alias("CONTROLLER_IDENTITIES")],
  }),
  encryptionKey: optional(
    keys256,
    "keys for stored credentials, the newest first: it encrypts; up makes one under the data folder",
    {
      secret: "whole",
    },
  ),
};
