import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { configFile, loadSettings as load, problemsOf } from "../testing/settings.ts";

suite("the configuration file", () => {
  test("takes the storage block of the chart, and paths relative to itself", async () => {
    const content = `
port: 9000
dataDir: data
corsOrigins: [http://a.localhost, http://b.localhost]
controllerIdentities:
  dns@example.com: dns
storage:
  driver: sqlite
  sqlite:
    path: ark.db
    persistence: { enabled: true, size: 1Gi }
  postgresql:
    host: ""
    port: 5432
    existingSecret: ""
`;
    await using file = await configFile(content);
    const folder = file.path;
    const config = await load({
      workingFolder: "/nowhere",
      flags: { config: `${folder}/keelson.config.yaml` },
    });
    assert.deepEqual(
      [
        config.port,
        config.dataDir,
        config.corsOrigins,
        config.controllerIdentities,
        config.sqlitePath,
      ],
      [
        9000,
        join(folder, "data"),
        ["http://a.localhost", "http://b.localhost"],
        { "dns@example.com": "dns" },
        join(folder, "ark.db"),
      ],
    );
    assert.equal(config.configFile, join(folder, "keelson.config.yaml"));
    const variable = { KEELSON_CONFIG: join(folder, "keelson.config.yaml") };
    assert.equal((await load({ environment: variable })).port, 9000);
  });

  test("names what it does not know, and what is no value", async () => {
    await using folder = await configFile(
      "prot: 1\nstorage:\n  drivr: sqlite\nport: {a: {b: 1}}\nlogLevel: [a, [b]]\n",
    );
    const file = join(folder.path, "keelson.config.yaml");
    assert.deepEqual(await problemsOf({ workingFolder: folder.path }), [
      `prot in ${file} is no setting: did you mean port?`,
      `storage.drivr in ${file} is no setting: did you mean storage.driver?`,
      `port in ${file} must be a text, a number, a list of them or pairs`,
      `logLevel in ${file} must be a text, a number, a list of them or pairs`,
    ]);
  });

  test("must exist when it is named, and be a map in YAML", async () => {
    assert.deepEqual(await problemsOf({ flags: { config: "missing.yaml" } }), [
      "/nowhere/missing.yaml does not exist",
    ]);
    for (const [content, pattern] of [
      ["port: 1\nport: 2\n", /is not YAML: .*unique at line 2, column 1$/],
      ["a: [", /is not YAML: .* at line 1, column 5$/],
      ["- a\n", /must be a map of settings$/],
    ] as const) {
      await using folder = await configFile(content);
      const [problem] = await problemsOf({ workingFolder: folder.path });
      assert.match(String(problem), pattern);
    }
    await using empty = await configFile("");
    assert.equal((await load({ workingFolder: empty.path })).port, 8080);
  });
});
