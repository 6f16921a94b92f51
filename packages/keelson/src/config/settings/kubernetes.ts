import { join } from "node:path";
import {
  address,
  boolean,
  domain,
  integer,
  linesOf,
  network,
  oneOf,
  outputPath,
  path,
  port,
  positiveDuration,
  schemaName,
  text,
} from "../kinds.ts";
import { alias, optional, setting } from "../setting.ts";

/** The Kubernetes API and the store below it. */
export const kubernetesSettings = {
  aggregated: setting(
    boolean,
    "serve the kinds of ark.mckinsey.com behind a host cluster, which says who may what",
    "false",
  ),
  kubeAddress: setting(address, "address of the Kubernetes API", "127.0.0.1", {
    flagAliases: ["bind-address"],
  }),
  kubePort: setting(port, "port of the Kubernetes API", "6443", { flagAliases: ["secure-port"] }),
  kubeconfig: optional(path, "kubeconfig to write, or of the host cluster behind which we serve"),
  certDir: setting(
    path,
    "folder of the Kubernetes API's certificates and keys, made if there are none",
    ({ values }) => ({
      text: join(String(values["dataDir"]), "pki"),
      because: "below the data folder",
    }),
  ),
  clientCaFile: optional(path, "authorities that may vouch for clients, besides our own"),
  tokenAuthFile: optional(path, 'static tokens: token,user,uid,"group1,group2" in each line'),
  anonymousAuth: setting(
    boolean,
    "let callers without credentials in, as system:anonymous; false: 401, on health paths too",
    "true",
  ),
  auditLogPath: optional(
    outputPath,
    "file to which a line of JSON is appended for each request, - for standard output",
  ),
  simulateWorkloads: setting(boolean, "mark workloads as a healthy cluster would", "true"),
  allowedPrivateIpRanges: optional(
    linesOf(network),
    "networks at which models may be although they are private, loopback or link-local",
    { aliases: [alias("ALLOWED_PRIVATE_IP_RANGES")] },
  ),
  whitelistedModelDomains: optional(
    linesOf(domain),
    "domains in which every model must be; any unless told",
    { aliases: [alias("WHITELISTED_MODEL_DOMAINS")] },
  ),
  storageDriver: setting(
    oneOf(["sqlite", "postgresql"]),
    "where the store keeps objects",
    "sqlite",
    {
      place: "storage.driver",
    },
  ),
  sqlitePath: setting(
    path,
    "file of the store",
    ({ values }) => ({
      text: join(String(values["dataDir"]), "apiserver.db"),
      because: "below the data folder",
    }),
    { place: "storage.sqlite.path" },
  ),
  postgresHost: optional(address, "host of the store's PostgreSQL; none: the services' database", {
    place: "storage.postgresql.host",
  }),
  postgresPort: setting(
    integer({ min: 1, max: 65_535 }),
    "port of the store's PostgreSQL",
    "5432",
    {
      place: "storage.postgresql.port",
    },
  ),
  postgresDatabase: setting(text, "database of the store", "ark", {
    place: "storage.postgresql.database",
  }),
  postgresUsername: setting(text, "user of the store's PostgreSQL", "ark", {
    place: "storage.postgresql.username",
  }),
  postgresSchema: setting(schemaName, "schema of the store's tables", "ark", {
    place: "storage.postgresql.schema",
  }),
  postgresServerRole: optional(
    text,
    "role that will serve, where migrate runs as another: it is granted what it needs",
    { place: "storage.postgresql.serverRole" },
  ),
  postgresPassword: optional(text, "password of the store's PostgreSQL", {
    aliases: [alias("POSTGRES_PASSWORD")],
    place: "storage.postgresql.password",
    secret: "whole",
  }),
  postgresPasswordFile: optional(path, "file with that password", {
    place: "storage.postgresql.passwordFile",
  }),
  postgresSslmode: setting(
    oneOf(["disable", "prefer", "require", "verify-full"]),
    "TLS to the store's PostgreSQL",
    "require",
    { place: "storage.postgresql.sslmode" },
  ),
  compactionInterval: setting(positiveDuration, "how often old revisions are removed", "5m"),
};
