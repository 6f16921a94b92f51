// Application: an app in one environment, and what it wants there.

import type { DeclaredKind } from "@keelson/kube";
import { Type, type Static } from "typebox";

import { nameRules } from "../names/name-rules.ts";
import { platformGroup } from "./platform-group.ts";
import { immutable, integer, mapList, object, oneOf, setOf, text } from "./schema-parts.ts";
import { commonStatus } from "./status.ts";

export const frameworks = ["nextjs", "rails", "static", "docker"] as const;
export const environments = ["staging", "uat", "production", "preview"] as const;
export type Environment = (typeof environments)[number];

const enabled = Type.Boolean({ default: false });
const dnsLabel = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

/** A relative path: no segment of it is `..`. */
const pathSegment = "([^/.][^/]*|\\.[^/.][^/]*|\\.|\\.\\.[^/]+)";

const envVar = object(
  {
    name: text({ maxLength: 256, pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }),
    value: Type.Optional(text({ maxLength: 32_768 })),
    secretKeyRef: Type.Optional(
      object({
        name: text({ minLength: 1, maxLength: 253 }),
        key: text({ minLength: 1, maxLength: 253 }),
      }),
    ),
  },
  {
    rules: [
      {
        rule: "has(self.value) != has(self.secretKeyRef)",
        message: "give either value or secretKeyRef",
      },
    ],
  },
);

const database = object({
  enabled,
  schemaName: Type.Optional(
    text(
      { maxLength: 63, pattern: "^[a-z][a-z0-9_]{0,62}$" },
      {
        rule: "!self.startsWith('pg_') && !(self in ['public', 'information_schema'])",
        message:
          "belongs to PostgreSQL: choose a name that is not pg_*, public or information_schema",
      },
    ),
  ),
  migrations: Type.Optional(
    object({
      engine: oneOf(["prisma", "knex", "raw"]),
      path: text({
        maxLength: 512,
        pattern: `^${pathSegment}(/${pathSegment}?)*$`,
        default: "./migrations",
      }),
    }),
  ),
});

const bucket = object({
  name: text({ maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" }),
  public: Type.Boolean({ default: false }),
  maxFileSize: Type.Optional(text({ maxLength: 16, pattern: "^[1-9][0-9]*(Ki|Mi|Gi)?$" })),
});

const usualScaling = { min: 2, max: 20, targetCPU: 70 };
const scaling = object(
  {
    min: integer({ minimum: 1, maximum: 100, default: usualScaling.min }),
    max: integer({ minimum: 1, maximum: 100, default: usualScaling.max }),
    targetCPU: integer({ minimum: 1, maximum: 100, default: usualScaling.targetCPU }),
  },
  {
    default: usualScaling,
    rules: [{ rule: "self.min <= self.max", message: "min must not be above max" }],
  },
);

export const applicationSpec = object({
  repository: text({ minLength: 1, maxLength: 512 }),
  branch: text({ minLength: 1, maxLength: 255, default: "main" }),
  framework: oneOf(frameworks),
  environment: oneOf(environments, {}, immutable),
  imageRef: Type.Optional(text({ minLength: 1, maxLength: 512, pattern: "^\\S+$" })),
  port: Type.Optional(integer({ minimum: 1, maximum: 65_535 })),
  probe: Type.Optional(object({ path: Type.Optional(text({ maxLength: 1024, pattern: "^/" })) })),
  envVars: Type.Optional(mapList(envVar, { keys: ["name"], maxItems: 128 })),
  database: Type.Optional(database),
  storage: Type.Optional(
    object({
      enabled,
      buckets: Type.Optional(mapList(bucket, { keys: ["name"], maxItems: 20 })),
    }),
  ),
  auth: Type.Optional(
    object({
      enabled,
      providers: setOf(oneOf(["google", "github", "saml", "oidc"]), 4),
    }),
  ),
  redis: Type.Optional(object({ enabled })),
  search: Type.Optional(object({ enabled })),
  scaling,
  domain: Type.Optional(
    text({ minLength: 1, maxLength: 253, pattern: `^${dnsLabel}(\\.${dnsLabel})*$` }),
  ),
  cors: Type.Optional(
    object({
      origins: setOf(
        text({
          maxLength: 300,
          pattern: "^[a-z][a-z0-9+.-]*://([A-Za-z0-9._-]+|\\[[0-9a-fA-F:.]+\\])(:[0-9]{1,5})?$",
        }),
        50,
      ),
    }),
  ),
  runAsUser: Type.Optional(integer({ minimum: 1 })),
  deletionPolicy: oneOf(["Delete", "Retain"], { default: "Delete" }),
});
/** As it is read: what has a default is there. */
export type ApplicationSpec = Static<typeof applicationSpec>;

export const applicationStatus = object(commonStatus);
export type ApplicationStatus = Static<typeof applicationStatus>;

/** The schema that a database block asks for, the name being its default. */
const schemaOf = (self: string): string =>
  `(has(${self}.spec.database.schemaName) ? ${self}.spec.database.schemaName : ${self}.metadata.name.replace('-', '_'))`;

export const application: DeclaredKind = {
  group: platformGroup,
  version: "v1alpha1",
  kind: "Application",
  plural: "applications",
  shortNames: ["app", "apps"],
  isNamespaced: true,
  description: "An app in one environment, and what it wants there.",
  spec: applicationSpec,
  status: applicationStatus,
  columns: [
    { name: "Framework", type: "string", jsonPath: ".spec.framework" },
    { name: "Environment", type: "string", jsonPath: ".spec.environment" },
    { name: "Phase", type: "string", jsonPath: ".status.phase" },
    { name: "URL", type: "string", jsonPath: ".status.url" },
  ],
  selectableFields: [],
  rules: [
    ...nameRules,
    {
      rule: `!has(self.spec.database) || !has(oldSelf.spec.database) || ${schemaOf("self")} == ${schemaOf("oldSelf")}`,
      message: "the schema cannot be changed: its data would stay behind",
      fieldPath: ".spec.database.schemaName",
    },
  ],
};
