import {
  address,
  BadValue,
  boolean,
  bytes,
  listOf,
  oneOf,
  origin,
  path,
  port,
  positiveDuration,
  text,
} from "../kinds.ts";
import { alias, optional, secondsAlias, setting } from "../setting.ts";

/** The parts that replicas divide among them. */
export const roles = ["rest", "worker", "scheduler", "operator"] as const;

/** The process and its listeners. */
export const serverSettings = {
  dataDir: setting(path, "folder for everything that is kept", ".keelson"),
  roles: optional(listOf(oneOf(roles)), "parts that serve runs: rest, worker, scheduler, operator"),
  address: setting(address, "address of the REST API", "127.0.0.1", { aliases: [alias("HOST")] }),
  port: setting(port, "port of the REST API", "8080", { aliases: [alias("PORT")] }),
  metricsEnabled: setting(boolean, "serve metrics", "true", {
    aliases: [alias("METRICS_ENABLED")],
  }),
  metricsAddress: setting(address, "address of the metrics", "127.0.0.1", {
    aliases: [{ variable: "METRICS_ADDR", read: (text) => splitAddress(text).host }],
  }),
  metricsPort: setting(port, "port of the metrics", "8081", {
    aliases: [
      alias("METRICS_PORT"),
      { variable: "METRICS_ADDR", read: (text) => splitAddress(text).port },
    ],
  }),
  tlsCertFile: optional(
    path,
    "certificate chain of the REST API, PEM; of the Kubernetes API where that runs alone",
  ),
  tlsKeyFile: optional(path, "private key to it, PEM", { flagAliases: ["tls-private-key-file"] }),
  corsOrigins: optional(listOf(origin), "origins whose pages may call the REST API, * for all", {
    aliases: [alias("CORS_ALLOWED_ORIGINS")],
    default: ({ values }) =>
      values["authMode"] === "none"
        ? undefined
        : { text: "*", because: "a credential is needed anyway" },
  }),
  bodyLimit: setting(bytes, "largest body of a request", "4MiB"),
  batchBodyLimit: setting(bytes, "largest body of a batch", "64MiB"),
  readTimeout: setting(positiveDuration, "longest time for a request to arrive", "30s", {
    aliases: [secondsAlias("SERVER_READ_TIMEOUT_SECONDS")],
  }),
  writeTimeout: setting(positiveDuration, "longest silence while answering", "30s", {
    aliases: [secondsAlias("SERVER_WRITE_TIMEOUT_SECONDS")],
  }),
  idleTimeout: setting(positiveDuration, "how long an idle connection is kept", "120s", {
    aliases: [secondsAlias("SERVER_IDLE_TIMEOUT_SECONDS")],
  }),
  shutdownGrace: setting(positiveDuration, "longest time for an orderly stop", "30s", {
    aliases: [alias("SHUTDOWN_GRACE")],
  }),
  logLevel: setting(
    oneOf(["debug", "info", "warn", "error"]),
    "quietest level that is logged",
    "info",
    {
      aliases: [alias("LOG_LEVEL")],
    },
  ),
  logFormat: setting(
    oneOf(["json", "text"]),
    "how log lines look",
    ({ isTerminal }) =>
      isTerminal
        ? { text: "text", because: "a terminal is watching" }
        : { text: "json", because: "no terminal is watching" },
    { aliases: [alias("LOG_FORMAT")] },
  ),
  environment: setting(text, "name of this installation, for /api/v1/info", "development", {
    aliases: [alias("ENVIRONMENT")],
  }),
  gitCommit: setting(text, "commit this was built from, for /api/v1/info", "unknown", {
    aliases: [alias("GIT_COMMIT")],
  }),
  buildTime: setting(text, "when this was built, for /api/v1/info", "unknown", {
    aliases: [alias("BUILD_TIME")],
  }),
};

/** `0.0.0.0:9090`, `:9090` for every address, `[::1]:9090`. */
function splitAddress(text: string): { readonly host: string; readonly port: string } {
  const [, host, port] = /^(\[[^\]]+\]|[^:[\]]*):(\d+)$/.exec(text) ?? [];
  if (host === undefined || port === undefined) {
    throw new BadValue("must be an address with a port, such as 0.0.0.0:9090");
  }
  return { host: host === "" ? "0.0.0.0" : host, port };
}
