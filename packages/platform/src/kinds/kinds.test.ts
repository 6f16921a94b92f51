import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { cloneJson, type JsonObject } from "@keelson/base";
import {
  definitionOf,
  kindOfDefinition,
  prepareObject,
  printFieldError,
  validateObject,
  validateSchema,
  type DeclaredKind,
} from "@keelson/kube";

import { application } from "./application.ts";
import { platformDefinitions } from "./definitions.ts";
import { previewEnvironment } from "./preview-environment.ts";
import { objectReader } from "./read-object.ts";

const readApplication = objectReader(application);
const readPreview = objectReader(previewEnvironment);

function app(spec: JsonObject, name = "my-app"): JsonObject {
  const required = { repository: "git@example.com:my/app", framework: "nextjs" };
  return {
    apiVersion: "platform.internal/v1alpha1",
    kind: "Application",
    metadata: { name, namespace: "default" },
    spec: { ...required, environment: "staging", ...spec },
  };
}

function preview(spec: JsonObject): JsonObject {
  return {
    apiVersion: "platform.internal/v1alpha1",
    kind: "PreviewEnvironment",
    metadata: { name: "pr-42", namespace: "default" },
    spec: { applicationRef: "staging/my-app", pullRequest: 42, branch: "fix", ...spec },
  };
}

/** The problems of a change. */
function changed(kind: DeclaredKind, before: JsonObject, after: JsonObject): readonly string[] {
  const { schema = {} } = kindOfDefinition(definitionOf(kind), kind.version) ?? {};
  const [old, object] = [cloneJson(before), cloneJson(after)];
  for (const one of [old, object]) prepareObject(schema, one);
  return validateObject(schema, object, { old }).errors.map(printFieldError);
}

suite("the kinds of the platform", () => {
  test("their definitions are ones that a cluster takes", () => {
    for (const definition of platformDefinitions()) {
      const { versions } = definition["spec"] as unknown as {
        versions: { schema: { openAPIV3Schema: JsonObject } }[];
      };
      for (const { schema } of versions) {
        const where = { path: "schema", hasStatus: true };
        assert.deepEqual(validateSchema(schema.openAPIV3Schema, where), []);
      }
    }
  });

  test("an Application is filled with its defaults", () => {
    const { object, problems } = readApplication(
      app({
        auth: {},
        database: { migrations: { engine: "raw" } },
        storage: { buckets: [{ name: "up" }] },
      }),
    );
    assert.deepEqual(problems, []);
    assert.deepEqual(object["spec"], {
      repository: "git@example.com:my/app",
      branch: "main",
      framework: "nextjs",
      environment: "staging",
      auth: { enabled: false, providers: [] },
      database: { enabled: false, migrations: { engine: "raw", path: "./migrations" } },
      storage: { enabled: false, buckets: [{ name: "up", public: false }] },
      scaling: { min: 2, max: 20, targetCPU: 70 },
      deletionPolicy: "Delete",
    });
  });

  for (const [what, spec, problem] of [
    ["a framework that is none", { framework: "django" }, /spec\.framework: Unsupported value/],
    ["an image with a space", { imageRef: "a b" }, /spec\.imageRef/],
    ["port 0", { port: 0 }, /spec\.port/],
    ["a probe without its slash", { probe: { path: "up" } }, /spec\.probe\.path/],
    [
      "both forms of a variable",
      { envVars: [{ name: "A", value: "1", secretKeyRef: { name: "s", key: "k" } }] },
      /either value or secretKeyRef/,
    ],
    ["neither form of a variable", { envVars: [{ name: "A" }] }, /either value or secretKeyRef/],
    [
      "a variable twice",
      {
        envVars: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
      /Duplicate value/,
    ],
    [
      "a variable with a hyphen",
      { envVars: [{ name: "A-B", value: "1" }] },
      /spec\.envVars\[0\]\.name/,
    ],
    ["a schema with a quote", { database: { schemaName: 'a"b' } }, /spec\.database\.schemaName/],
    ["a schema with a hyphen", { database: { schemaName: "a-b" } }, /spec\.database\.schemaName/],
    ["a schema in upper case", { database: { schemaName: "A" } }, /spec\.database\.schemaName/],
    ["a schema of PostgreSQL", { database: { schemaName: "pg_x" } }, /belongs to PostgreSQL/],
    ["schema public", { database: { schemaName: "public" } }, /belongs to PostgreSQL/],
    [
      "an absolute path",
      { database: { migrations: { engine: "raw", path: "/m" } } },
      /spec\.database\.migrations\.path/,
    ],
    [
      "a path that climbs",
      { database: { migrations: { engine: "raw", path: "m/../x" } } },
      /spec\.database\.migrations\.path/,
    ],
    [
      "a bucket in upper case",
      { storage: { buckets: [{ name: "Up" }] } },
      /spec\.storage\.buckets\[0\]\.name/,
    ],
    [
      "a size that is none",
      { storage: { buckets: [{ name: "up", maxFileSize: "0Mi" }] } },
      /maxFileSize/,
    ],
    [
      "a provider that is none",
      { auth: { providers: ["facebook"] } },
      /spec\.auth\.providers\[0\]/,
    ],
    ["min above max", { scaling: { min: 30 } }, /min must not be above max/],
    ["CPU 400", { scaling: { targetCPU: 400 } }, /spec\.scaling\.targetCPU/],
    ["a domain with a long label", { domain: `${"a".repeat(64)}.example.com` }, /spec\.domain/],
    ["every origin", { cors: { origins: ["*"] } }, /spec\.cors\.origins\[0\]/],
    [
      "an origin with a wildcard",
      { cors: { origins: ["https://*.example.com"] } },
      /spec\.cors\.origins/,
    ],
    [
      "an origin with a path",
      { cors: { origins: ["https://a.example.com/"] } },
      /spec\.cors\.origins/,
    ],
    ["root", { runAsUser: 0 }, /spec\.runAsUser/],
  ] as const) {
    test(`an Application is refused with ${what}`, () => {
      assert.match(readApplication(app(spec)).problems.join("\n"), problem);
    });
  }

  test("paths and origins that are right are taken", () => {
    for (const path of ["./migrations", "db/migrations", "a/..b/c", ".hidden", "a/./b/"]) {
      const { problems } = readApplication(
        app({ database: { migrations: { engine: "raw", path } } }),
      );
      assert.deepEqual(problems, [], path);
    }
    const origins = [
      "https://a.example.com",
      "http://localhost:3000",
      "http://[::1]:80",
      "app://x",
    ];
    assert.deepEqual(readApplication(app({ cors: { origins } })).problems, []);
  });

  test("names that are reserved, or are none, are refused", () => {
    const refused = ["master", "admin", "postgres", "public", "kube-x", "pg-x", "1a", "a.b"];
    for (const name of refused) {
      assert.match(readApplication(app({}, name)).problems.join(), /metadata\.name/, name);
    }
    for (const name of ["masters", "a", "my-app2", "kubex"]) {
      assert.deepEqual(readApplication(app({}, name)).problems, [], name);
    }
  });

  test("environment and schema are said once", () => {
    const change = (before: JsonObject, after: JsonObject) =>
      changed(application, app(before), app(after)).join("\n");
    assert.match(change({}, { environment: "uat" }), /spec\.environment: .*cannot be changed/);
    const schema = (schemaName: string) => ({ database: { enabled: true, schemaName } });
    assert.match(
      change(schema("a"), schema("b")),
      /the schema cannot be changed: .*; to have another, remove spec\.database .* once DatabaseReady is gone$/,
    );
    assert.match(
      change(schema("a"), { database: { enabled: true } }),
      /the schema cannot be changed/,
    );
    assert.equal(change(schema("my_app"), { database: { enabled: true } }), "");
    assert.equal(change(schema("a"), {}), "");
  });

  test("a preview is filled with its defaults", () => {
    const { object, problems } = readPreview(preview({}));
    assert.deepEqual([problems, (object["spec"] as JsonObject)["ttl"]], [[], "72h"]);
  });

  test("a ttl is a time of at most 30 days", () => {
    for (const ttl of ["72", "-1h", "0m", "1w", "31d", "721h", "43201m", "", "1.5h"]) {
      assert.match(readPreview(preview({ ttl })).problems.join(), /spec\.ttl/, ttl);
    }
    for (const ttl of ["5m", "2h", "3d", "30d", "720h", "43200m"]) {
      assert.deepEqual(readPreview(preview({ ttl })).problems, [], ttl);
    }
  });

  test("a preview stays with its parent and its pull request", () => {
    const change = (after: JsonObject) =>
      changed(previewEnvironment, preview({}), preview(after)).join();
    assert.match(change({ applicationRef: "other" }), /spec\.applicationRef: .*cannot be changed/);
    assert.match(change({ pullRequest: 43 }), /spec\.pullRequest: .*cannot be changed/);
    assert.equal(change({ branch: "other", imageRef: "x:2" }), "");
    for (const applicationRef of ["a/b/c", "/a", "a/", "A"]) {
      assert.match(
        readPreview(preview({ applicationRef })).problems.join(),
        /spec\.applicationRef/,
      );
    }
  });
});
