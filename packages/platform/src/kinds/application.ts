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
/** With whose accounts people may log in. */
export const providers = ["google", "github", "saml", "oidc"] as const;
export type ProviderName = (typeof providers)[number];

const dnsLabel = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?";

/** A relative path: no segment of it is `..`. */
const pathSegment = "([^/.][^/]*|\\.[^/.][^/]*|\\.|\\.\\.[^/]+)";

/** A feature is off until somebody wants it. */
function enabled(description: string) {
  return Type.Boolean({ description, default: false });
}

const envVar = object(
  {
    name: text({ maxLength: 256, pattern: "^[A-Za-z_][A-Za-z0-9_]*$" }),
    value: Type.Optional(text({ maxLength: 32_768 })),
    secretKeyRef: Type.Optional(
      object(
        {
          name: text({ minLength: 1, maxLength: 253 }),
          key: text({ minLength: 1, maxLength: 253 }),
        },
        { description: "A key of a Secret in the namespace of the app." },
      ),
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

const database = object(
  {
    enabled: enabled(
      "Whether the app has a schema, a role to log in with, and a REST API on both.",
    ),
    schemaName: Type.Optional(
      text(
        {
          description:
            "The schema without the prefix of its environment; the name of the app unless told. It cannot be changed.",
          maxLength: 63,
          pattern: "^[a-z][a-z0-9_]{0,62}$",
        },
        {
          rule: "!self.startsWith('pg_') && !(self in ['public', 'information_schema'])",
          message:
            "belongs to PostgreSQL: choose a name that is not pg_*, public or information_schema",
        },
      ),
    ),
    migrations: Type.Optional(
      object(
        {
          engine: oneOf(["prisma", "knex", "raw"], {
            description: "What runs them; raw is files of SQL, in the order of their names.",
          }),
          path: text({
            description: "Where the image has them, relative to its working folder.",
            maxLength: 512,
            pattern: `^${pathSegment}(/${pathSegment}?)*$`,
            default: "./migrations",
          }),
        },
        { description: "What a Job does to the schema before a new image runs." },
      ),
    ),
  },
  { description: "A PostgreSQL schema of the app's own." },
);

const bucket = object({
  name: text({ maxLength: 63, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" }),
  public: Type.Boolean({ description: "Whether anybody may read it.", default: false }),
  maxFileSize: Type.Optional(
    text({
      description: "As 10Mi. The largest of all is what the route to the app lets through.",
      maxLength: 16,
      pattern: "^[1-9][0-9]*(Ki|Mi|Gi)?$",
    }),
  ),
});

const usualScaling = { min: 2, max: 20, targetCPU: 70 };
const scaling = object(
  {
    min: integer({ minimum: 1, maximum: 100, default: usualScaling.min }),
    max: integer({ minimum: 1, maximum: 100, default: usualScaling.max }),
    targetCPU: integer({
      description: "Percent of what a pod asks for.",
      minimum: 1,
      maximum: 100,
      default: usualScaling.targetCPU,
    }),
  },
  {
    description: "How many pods there are.",
    default: usualScaling,
    rules: [{ rule: "self.min <= self.max", message: "min must not be above max" }],
  },
);

export const applicationSpec = object({
  repository: text({ description: "Where its source is.", minLength: 1, maxLength: 512 }),
  branch: text({ minLength: 1, maxLength: 255, default: "main" }),
  framework: oneOf(frameworks, { description: "Says the usual port and probe." }),
  environment: oneOf(
    environments,
    { description: "Part of the names of all that it owns. It cannot be changed." },
    immutable,
  ),
  imageRef: Type.Optional(
    text({
      description: "The image to run; nothing runs without one.",
      minLength: 1,
      maxLength: 512,
      pattern: "^\\S+$",
    }),
  ),
  port: Type.Optional(
    integer({
      description: "Where it listens; by its framework unless told.",
      minimum: 1,
      maximum: 65_535,
    }),
  ),
  probe: Type.Optional(
    object(
      { path: Type.Optional(text({ maxLength: 1024, pattern: "^/" })) },
      { description: "What is asked whether it is ready; by its framework unless told." },
    ),
  ),
  envVars: Type.Optional(
    mapList(envVar, {
      description: "Variables of its own, which win over those that it is given.",
      keys: ["name"],
      maxItems: 128,
    }),
  ),
  database: Type.Optional(database),
  storage: Type.Optional(
    object(
      {
        enabled: enabled("Whether the app has buckets."),
        buckets: Type.Optional(mapList(bucket, { keys: ["name"], maxItems: 20 })),
      },
      { description: "Buckets of the app's own." },
    ),
  ),
  auth: Type.Optional(
    object(
      {
        enabled: enabled("Whether the app has a realm."),
        providers: setOf(oneOf(providers), {
          description: "With whose accounts people may log in, besides those of the realm.",
          maxItems: 4,
        }),
      },
      { description: "A realm of the app's own, in which people log in." },
    ),
  ),
  redis: Type.Optional(object({ enabled: enabled("Whether the app is told where Redis is.") })),
  search: Type.Optional(
    object({ enabled: enabled("Whether the app is told where OpenSearch is.") }),
  ),
  scaling,
  domain: Type.Optional(
    text({
      description: "Where it is found; by its name and environment unless told.",
      minLength: 1,
      maxLength: 253,
      pattern: `^${dnsLabel}(\\.${dnsLabel})*$`,
    }),
  ),
  cors: Type.Optional(
    object({
      origins: setOf(
        text({
          maxLength: 300,
          pattern: "^[a-z][a-z0-9+.-]*://([A-Za-z0-9._-]+|\\[[0-9a-fA-F:.]+\\])(:[0-9]{1,5})?$",
        }),
        {
          description: "Which other origins may use its buckets, its realm and its REST API.",
          maxItems: 50,
        },
      ),
    }),
  ),
  runAsUser: Type.Optional(
    integer({ description: "The user of its process; the image's unless told.", minimum: 1 }),
  ),
  deletionPolicy: oneOf(["Delete", "Retain"], {
    description:
      "What becomes of schema, buckets and realm when the app goes or no longer asks for them.",
    default: "Delete",
  }),
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
      message:
        "the schema cannot be changed: its data would stay behind; to have another, remove spec.database (its data goes, unless deletionPolicy is Retain), and add it anew once DatabaseReady is gone",
      fieldPath: ".spec.database.schemaName",
    },
  ],
};
