import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { findServer } from "./find-server.ts";

const server = "http://127.0.0.1:8080";

suite("what a command comes with", () => {
  const find = (flags: object, environment: Record<string, string> = {}) =>
    findServer({ server, ...flags }, { environment, workingFolder: "/nowhere" });

  test("a token is taken as it comes out of a file", async () => {
    const environment = { KEELSON_TOKEN: "abc\n" };
    assert.equal((await find({}, environment)).token, "abc");
    assert.equal((await find({ token: " def\r\n" }, environment)).token, "def");
    assert.equal((await find({}, { KEELSON_TOKEN: "\n" })).token, undefined);
  });

  test("what no header takes is refused where it stands, and a token is not repeated", async () => {
    const none = "is no token: it has blanks, line breaks or letters that none has";
    for (const [flags, environment, message] of [
      [{}, { KEELSON_TOKEN: "abc\ndef" }, `KEELSON_TOKEN ${none}`],
      [{ token: "abc…" }, {}, `--token ${none}`],
      [
        { as: "名@example.com" },
        {},
        "--as has letters that no header takes: write it like you@example.com",
      ],
    ] as const) {
      await assert.rejects(find(flags, environment), { message, exitCode: 2 });
    }
    assert.equal((await find({ as: "jürgen@example.com" })).email, "jürgen@example.com");
  });
});

suite("a server that is not named", () => {
  const find = (environment: Record<string, string>) =>
    findServer({}, { environment, workingFolder: "/nowhere" });

  test("is looked for on the data folder, whatever else is wrong with settings", async () => {
    const environment = {
      KEELSON_DATA_DIR: "here",
      HOST: "myhost",
      LOG_LEVEL: "verbose",
      METRICS_ADDR: "none",
      POSTGRES_PASSWORD: "secret",
    };
    await assert.rejects(find(environment), {
      name: "CommandError",
      message: /^no server is running on \/nowhere\/here: start one/,
    });
  });

  test("is not looked for where a name may have meant the folder", async () => {
    await assert.rejects(find({ KEELSON_DATADIR: "here" }), {
      name: "ConfigError",
      message: /KEELSON_DATADIR is no setting: did you mean KEELSON_DATA_DIR\?/,
    });
  });
});
