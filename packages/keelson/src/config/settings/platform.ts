import {
  adminUrl,
  boolean,
  domain,
  endpoint,
  integer,
  oneOf,
  path,
  quantity,
  serviceUrl,
  text,
} from "../kinds.ts";
import { alias, optional, setting } from "../setting.ts";

/** The operator, and what it gives to apps. */
export const platformSettings = {
  baseDomain: optional(domain, "domain below which apps get theirs; up: localhost", {
    aliases: [alias("BASE_DOMAIN")],
  }),
  dbAdminUrl: optional(adminUrl, "PostgreSQL for apps, as a role that may make schemas and roles", {
    aliases: [alias("DB_ADMIN_URL")],
    secret: "password",
  }),
  dbAdminUrlFile: optional(path, "file with that URL, read anew when the password is refused", {
    aliases: [alias("DB_ADMIN_URL_FILE")],
  }),
  dbSecretArn: optional(
    text,
    "secret of AWS Secrets Manager, JSON with username, password, host, port and dbname; read anew likewise",
    { aliases: [alias("DB_SECRET_ARN")] },
  ),
  appDbHost: optional(text, "host of that PostgreSQL as apps see it; that of the URL unless told", {
    aliases: [alias("DB_HOST")],
  }),
  appDbPort: optional(
    integer({ min: 1, max: 65_535 }),
    "its port as apps see it; that of the URL unless told",
    { aliases: [alias("DB_PORT")] },
  ),
  appDbName: optional(text, "its database as apps see it; that of the URL unless told", {
    aliases: [alias("DB_NAME")],
  }),
  migrationImage: optional(text, "image that runs apps' SQL files: one of Keelson", {
    aliases: [alias("MIGRATION_IMAGE")],
  }),
  awsRegion: setting(text, "region of apps' buckets", "us-east-1", {
    aliases: [alias("AWS_REGION")],
  }),
  awsEndpointUrl: optional(serviceUrl, "S3 store of apps' buckets, where it is not AWS", {
    aliases: [alias("AWS_ENDPOINT_URL")],
    secret: "password",
  }),
  appS3Secret: optional(text, "Secret of the operator's namespace with the keys of apps", {
    aliases: [alias("APP_S3_SECRET")],
  }),
  appRoleArnTemplate: optional(
    text,
    "role of AWS for an app's pods, with {namespace}, {app} and {environment}",
    { aliases: [alias("APP_ROLE_ARN_TEMPLATE")] },
  ),
  keycloakAdminUrl: optional(serviceUrl, "Keycloak for apps' logins, as the operator reaches it", {
    aliases: [alias("KEYCLOAK_ADMIN_URL")],
    secret: "password",
  }),
  keycloakAdminUser: optional(text, "administrator of that Keycloak", {
    aliases: [alias("KEYCLOAK_ADMIN_USER")],
  }),
  keycloakAdminPassword: optional(text, "password of that administrator", {
    aliases: [alias("KEYCLOAK_ADMIN_PASSWORD")],
    secret: "whole",
  }),
  authPublicUrl: optional(
    serviceUrl,
    "Keycloak as browsers find it; https://auth. before the base domain unless told",
    { aliases: [alias("AUTH_PUBLIC_URL")], secret: "password" },
  ),
  redisEndpoint: setting(
    endpoint("redis", "rediss"),
    "Redis as apps find it",
    "redis.plattr-system:6379",
    { aliases: [alias("REDIS_ENDPOINT")], secret: "password" },
  ),
  redisTls: setting(boolean, "whether apps speak TLS with Redis", "false", {
    aliases: [alias("REDIS_TLS")],
  }),
  opensearchEndpoint: setting(
    endpoint("http", "https"),
    "OpenSearch as apps find it",
    "http://opensearch.plattr-system:9200",
    { aliases: [alias("OPENSEARCH_ENDPOINT")], secret: "password" },
  ),
  ingressClass: setting(text, "class of apps' Ingresses", "nginx", {
    aliases: [alias("INGRESS_CLASS")],
  }),
  ingressRewrite: setting(
    oneOf(["nginx", "traefik"]),
    "which controller's way of stripping a prefix Ingresses speak",
    "nginx",
    { aliases: [alias("INGRESS_REWRITE")] },
  ),
  ingressNamespace: setting(
    text,
    "namespace of the Ingress controller, which previews let in",
    "ingress-nginx",
    { aliases: [alias("INGRESS_NAMESPACE")] },
  ),
  clusterIssuer: setting(
    text,
    "issuer of apps' certificates, of cert-manager",
    "letsencrypt-prod",
    {
      aliases: [alias("CLUSTER_ISSUER")],
    },
  ),
  previewHostStyle: setting(
    oneOf(["nested", "single-label"]),
    "hosts of previews: pr-1.app.preview.…, or app-pr-1.preview.… for one wildcard certificate",
    "nested",
    { aliases: [alias("PREVIEW_HOST_STYLE")] },
  ),
  previewTlsSecret: optional(text, "Secret with the certificate that all previews share", {
    aliases: [alias("PREVIEW_TLS_SECRET")],
  }),
  previewQuotaCpu: setting(quantity, "limits of CPU that one preview's pods have together", "5", {
    aliases: [alias("PREVIEW_QUOTA_CPU")],
  }),
  previewQuotaMemory: setting(
    quantity,
    "limits of memory that one preview's pods have together",
    "3Gi",
    { aliases: [alias("PREVIEW_QUOTA_MEMORY")] },
  ),
  leaderElection: setting(boolean, "let one of several operators lead", "true", {
    aliases: [alias("LEADER_ELECTION")],
  }),
  operatorNamespace: setting(
    text,
    "namespace of the operator's Lease and Secrets",
    "plattr-system",
    { aliases: [alias("OPERATOR_NAMESPACE")] },
  ),
  concurrency: setting(
    integer({ min: 1, max: 256 }),
    "how many apps the operator works on at once",
    "8",
    { aliases: [alias("CONCURRENCY")] },
  ),
};
