// Every setting, by every way in which it can be given.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { stringify } from "yaml";
import { fromFile } from "./file.ts";
import { fromEnvironment, fromFlags, type Environment, type Flags } from "./given.ts";
import { resolveSettings, type Resolved } from "./resolve.ts";
import { flagOf, variableOf, type Setting } from "./setting.ts";
import { anySettings, groups, settings } from "./settings.ts";

const folder = "/somewhere";

/** Two texts for each kind that mean different values, neither of them a default. */
const samples: Readonly<Record<string, readonly [string, string]>> = {
  text: ["one", "two"],
  path: ["/tmp/one", "/tmp/two"],
  "path or -": ["/tmp/one", "-"],
  duration: ["17s", "19s"],
  bytes: ["17KiB", "19KiB"],
  port: ["1701", "1702"],
  number: ["17", "19"],
  address: ["127.0.0.17", "127.0.0.19"],
  schema: ["one", "two"],
  "origin,…": ["http://one.localhost,http://two.localhost", "*"],
  "rest|worker|scheduler|operator,…": ["rest,worker", "scheduler"],
  "network in each line": ["10.0.0.0/8,fd00::/8", "127.0.0.1"],
  "domain in each line": ["one.example.com,two.example.com", "example.com"],
  "key=value,…": ["a@x.org=one", "b@x.org=two"],
  "true or false": ["true", "false"],
  "debug|info|warn|error": ["debug", "warn"],
  "json|text": ["json", "text"],
  "none|token|gateway|oidc": ["oidc", "token"],
  "sqlite|postgresql": ["sqlite", "postgresql"],
  "disable|prefer|require|verify-full": ["prefer", "disable"],
  "local|pubsub": ["local", "pubsub"],
  "nginx|traefik": ["nginx", "traefik"],
  "nested|single-label": ["nested", "single-label"],
  endpoint: ["one.example.com:6379", "two"],
  domain: ["one.example.com", "two.example.com"],
  amount: ["1500m", "2Gi"],
  "stable|fast|candidate|eus": ["fast", "eus"],
  "256 bits in base64,…": [
    Buffer.alloc(32, 1).toString("base64"),
    Buffer.alloc(32, 2).toString("base64"),
  ],
};

/** The URLs have one kind name and different rules. */
const urlSamples: Readonly<Record<string, readonly [string, string]>> = {
  databaseUrl: ["postgres://a:b@one:5432/x", "postgresql://a:b@two/x"],
  dbAdminUrl: ["postgres://a:b@one:5432/x", "postgresql://a:b@two/x"],
  keycloakAdminUrl: ["https://one.example.com", "http://two:8080"],
  authPublicUrl: ["https://one.example.com", "http://two:8080"],
  awsEndpointUrl: ["https://one.example.com", "http://two:9000"],
  oidcIssuer: ["https://one.example.com", "http://localhost:1234/realms/x"],
};

/** A plain variable that speaks of two settings. */
const sharedAlias = "METRICS_ADDR";

/** The text of an alias that is not the setting's own; of the shared one by setting. */
const foreignAliases: Readonly<Record<string, readonly [text: string, meaning: string]>> = {
  DISABLE_AUTH: ["true", "none"],
  SERVER_READ_TIMEOUT_SECONDS: ["17", "17s"],
  SERVER_WRITE_TIMEOUT_SECONDS: ["17", "17s"],
  SERVER_IDLE_TIMEOUT_SECONDS: ["17", "17s"],
  [`metricsAddress ${sharedAlias}`]: ["127.0.0.17:1701", "127.0.0.17"],
  [`metricsPort ${sharedAlias}`]: ["[::1]:1701", "1701"],
};

interface Inputs {
  readonly flags?: Flags;
  readonly environment?: Environment;
  readonly file?: string;
}

async function resolve({ flags = {}, environment = {}, file }: Inputs): Promise<Resolved> {
  const home = await mkdtemp(join(tmpdir(), "keelson-config-"));
  try {
    if (file !== undefined) await writeFile(join(home, "keelson.config.yaml"), file);
    const gathered = [
      fromFlags(flags, folder),
      fromEnvironment(environment, folder),
      await fromFile(undefined, home),
    ];
    const resolved = resolveSettings(
      gathered.flatMap(({ given }) => given),
      { isTerminal: false, folder },
    );
    const problems = [...gathered.flatMap(({ problems }) => problems), ...resolved.problems];
    return { ...resolved, problems };
  } finally {
    await rm(home, { recursive: true });
  }
}

/** The configuration file that says one thing. */
function fileWith(place: string, value: unknown): string {
  return stringify(
    place.split(".").reduceRight<unknown>((inner, name) => ({ [name]: inner }), value),
  );
}

suite("every setting", () => {
  test("is in one group, and no two share a name", () => {
    const grouped = Object.values(groups).flatMap((members) => Object.keys(members));
    assert.deepEqual(grouped.toSorted(), Object.keys(settings).toSorted());
    const flags = anySettings.flatMap(([key, { flagAliases = [] }]) => [
      flagOf(key),
      ...flagAliases,
    ]);
    const variables = anySettings.flatMap(([key, { aliases = [] }]) => [
      variableOf(key),
      ...aliases.map(({ variable }) => variable).filter((name) => name !== sharedAlias),
    ]);
    for (const names of [flags, variables]) assert.equal(new Set(names).size, names.length);
  });

  test("keeps a number with the word that it belongs to", () => {
    assert.deepEqual(
      [flagOf("appS3Secret"), variableOf("appS3Secret")],
      ["app-s3-secret", "KEELSON_APP_S3_SECRET"],
    );
  });

  for (const [key, setting] of anySettings) {
    const [one, two] = urlSamples[key] ?? samples[setting.kind.name] ?? ["", ""];
    const read = (text: string): unknown => setting.kind.read(text, { folder });
    const flag = flagOf(key);
    const variable = variableOf(key);

    suite(`${variable}, --${flag}`, () => {
      test("the samples are two values, which are written as they are read", () => {
        for (const text of [one, two]) {
          assert.deepEqual(read(setting.kind.write(read(text) as never)), read(text));
        }
        assert.notDeepEqual(read(one), read(two));
      });

      test("comes from its flag, before its variable and the file", async () => {
        const { values, sources, problems } = await resolve({
          flags: { [flag]: one },
          environment: { [variable]: two },
          file: fileWith(setting.place ?? key, two),
        });
        assert.deepEqual(problems, []);
        assert.deepEqual(values[key], read(one));
        assert.deepEqual(sources[key], { origin: "flag", name: `--${flag}` });
      });

      test("comes from its variable, before the file", async () => {
        const { values, sources, problems } = await resolve({
          environment: { [variable]: ` ${one} ` },
          file: fileWith(setting.place ?? key, two),
        });
        assert.deepEqual(problems, []);
        assert.deepEqual(values[key], read(one));
        assert.deepEqual(sources[key], { origin: "variable", name: variable });
      });

      test("comes from the file, also as the YAML that its text is", async () => {
        for (const value of [one, asYaml(one, setting)]) {
          const { values, sources, problems } = await resolve({
            file: fileWith(setting.place ?? key, value),
          });
          assert.deepEqual(problems, []);
          assert.deepEqual(values[key], read(one));
          assert.equal(sources[key].origin, "file");
          assert.match(sources[key].name, /^[\w.]+ in .*keelson\.config\.yaml$/);
        }
      });

      test("has its default, and an empty variable counts as none", async () => {
        const { values, sources, problems } = await resolve({ environment: { [variable]: "" } });
        assert.deepEqual(problems, []);
        assert.equal(sources[key].origin, "default");
        if (typeof setting.default === "string")
          assert.deepEqual(values[key], read(setting.default));
        if (setting.default === undefined) assert.equal(values[key], undefined);
      });

      for (const { variable: plain } of setting.aliases ?? []) {
        const [text, meaning] = foreignAliases[`${key} ${plain}`] ??
          foreignAliases[plain] ?? [one, one];

        test(`comes from ${plain}, which may say the same as ${variable}`, async () => {
          for (const environment of [{ [plain]: text }, { [plain]: text, [variable]: meaning }]) {
            const { values, problems } = await resolve({ environment });
            assert.deepEqual(problems, []);
            assert.deepEqual(values[key], read(meaning));
          }
        });

        test(`${plain} and ${variable} that disagree are a problem that names both`, async () => {
          const { problems } = await resolve({ environment: { [plain]: text, [variable]: two } });
          assert.deepEqual(
            problems.map(({ field, message }) => ({ field, message })),
            [{ field: variable, message: `and ${plain} disagree` }],
          );
        });
      }

      for (const other of setting.flagAliases ?? []) {
        test(`comes from --${other}, which must not disagree with --${flag}`, async () => {
          const { values, sources } = await resolve({ flags: { [other]: one } });
          assert.deepEqual(values[key], read(one));
          assert.equal(sources[key].name, `--${other}`);
          const { problems } = await resolve({ flags: { [flag]: one, [other]: two } });
          assert.deepEqual(
            problems.map(({ field, message }) => ({ field, message })),
            [{ field: `--${flag}`, message: `and --${other} disagree` }],
          );
        });
      }
    });
  }
});

/** The text as a YAML author would write it: a number, a boolean, a list, a map. */
function asYaml(text: string, { kind }: Setting<unknown>): unknown {
  if (kind.name === "key=value,…") return Object.fromEntries([text.split("=")]);
  if (kind.name.endsWith(",…")) return text.split(",");
  if (kind.name === "true or false") return text === "true";
  return /^\d+$/.test(text) ? Number(text) : text;
}
