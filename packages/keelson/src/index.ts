// The executable. What other packages see of it is the shape in which they put routes on its REST server; they
// cannot import it, and need not: whatever has the shape fits. Tests and benchmarks build the server from here, and type commands.

export { buildRest, type RestLimits, type RestOptions, type RestServer } from "./rest/server.ts";
export type { Authenticator } from "./rest/identity/authenticator.ts";
export { gatewayAuthenticator } from "./rest/identity/gateway.ts";
export { believingAuthenticator } from "./rest/identity/none.ts";
export { tokenAuthenticator } from "./rest/identity/token.ts";
export { ApiDocument } from "./rest/openapi.ts";
export { restReference } from "./rest/reference-page.ts";
export type { PageDocument } from "./rest/api-page.ts";
export { settingsDocument } from "./config/document.ts";
export type { RouteModule, RouteTools } from "./rest/route-module.ts";
export { PrometheusMetrics } from "./prometheus.ts";
export { newLog } from "./logging.ts";
export { CommandError } from "./commands/command-error.ts";
export type { CommandContext } from "./commands/command-context.ts";
export { commandLine } from "./commands/command-line.ts";
export { readRunFile, type Addresses, type RunFile } from "./run-file.ts";
