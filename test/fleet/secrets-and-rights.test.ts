// What is shown to whom (F29, F49): values of Secrets to nobody, clusters to their own.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@keelson/base";
import { as, eachFleetRest } from "./fleet-rest.ts";
import { create, replicas, web } from "./resource-fixture.ts";

eachFleetRest("fleet's API, what is shown", (fresh) => {
  test("F29: a Secret's values go in and never come out", async () => {
    await using it = await fresh();
    const value = "cGFzc3dvcmQ=";
    const secret = { ...web, kind: "Secret", name: "login" };
    const id = await create(it, {
      ...secret,
      desired_spec: { data: { password: value, user: "YW5u" }, stringData: { pin: "1234" } },
    });
    const { body } = await it.ask("GET", `/resources/${id}`);
    const shown = body.desired_spec;
    assert.match(shown.data.password, /^keelson:secret:[\w-]{22}$/);
    // What was shown may be sent back, also under another key; what is new is taken as it is.
    const moved = {
      data: { password: shown.data.password, name: shown.data.user, more: "bW9yZQ==" },
    };
    assert.equal((await it.ask("PUT", `/resources/${id}`, { desired_spec: moved })).code, 200);
    assert.deepEqual(await it.tables.query(`SELECT desired_spec FROM resources`), [
      { desired_spec: { data: { password: value, name: "YW5u", more: "bW9yZQ==" } } },
    ]);
    const strange = { data: { password: "keelson:secret:0000000000000000000000" } };
    const refused = await it.ask("PUT", `/resources/${id}`, { desired_spec: strange });
    assert.deepEqual(
      [refused.code, refused.body.details.fields[0].field],
      [400, "desired_spec.data.password"],
    );
    const everything = JSON.stringify([
      body,
      (await it.ask("GET", `/resources/${id}`)).body,
      (await it.ask("GET", `/resources/${id}/revisions`)).body,
      (await it.ask("GET", "/resources")).body,
      await it.tables.query(`SELECT * FROM events_unnumbered`),
    ]);
    for (const word of [value, "YW5u", "1234", "bW9yZQ=="])
      assert.ok(!everything.includes(word), word);
  });

  test("3.5: a marker that is moved between data and texts stands for the same value, or is refused", async () => {
    await using it = await fresh();
    const base64 = (text: string | Buffer): string => Buffer.from(text).toString("base64");
    const texts = { password: "swordfish", umlaut: "ä\ufeff", like: "cGFzc3dvcmQ=" };
    const data = {
      known: base64("se\u00e4same"),
      same: "cGFzc3dvcmQ=",
      bytes: base64(Buffer.from([0xff, 0xfe])),
      zero: base64("\0"),
      wrong: "no base64",
    };
    const stored = { data, stringData: texts };
    const id = await create(it, { ...web, kind: "Secret", name: "login", desired_spec: stored });
    const shown = (await it.ask("GET", `/resources/${id}`)).body.desired_spec;
    const put = (desired_spec: JsonObject) => it.ask("PUT", `/resources/${id}`, { desired_spec });
    const refused = await put({ data: shown.data, stringData: shown.data });
    const fields: string[] = refused.body.details.fields.map((one: { field: string }) => one.field);
    const names = ["bytes", "wrong", "zero"].map((name) => `desired_spec.stringData.${name}`);
    assert.deepEqual([refused.code, fields.toSorted()], [400, names]);
    for (const value of [...Object.values(texts), ...Object.values(data)])
      assert.ok(!JSON.stringify(refused.body).includes(value), value);
    assert.equal(
      (await put({ data: shown.stringData, stringData: { known: shown.data.known } })).code,
      200,
    );
    assert.deepEqual(await it.tables.query(`SELECT desired_spec FROM resources`), [
      {
        desired_spec: {
          // Written in both ways, one value has one marker: where it stands it is as it stood there.
          data: { password: base64("swordfish"), umlaut: base64("ä\ufeff"), like: "cGFzc3dvcmQ=" },
          stringData: { known: "se\u00e4same" },
        },
      },
    ]);
  });

  test("F49: a token sees and writes its clusters only, and its role says what it may do", async () => {
    await using it = await fresh({
      tokens: {
        admin: { role: "admin" },
        editor: { role: "editor", clusters: ["a"] },
        reader: { role: "reader" },
      },
    });
    const post = (cluster_id: string, who: string) =>
      it.ask("POST", "/resources", { ...web, cluster_id }, as(who));
    assert.equal((await post("a", "editor")).code, 201);
    assert.equal((await post("b", "editor")).code, 403);
    assert.equal((await post("b", "reader")).code, 403);
    const { body } = await post("b", "admin");
    const { id } = body;
    assert.equal((await it.ask("GET", `/resources/${id}`, undefined, as("editor"))).code, 404);
    assert.equal((await it.ask("PUT", `/resources/${id}`, replicas(2), as("editor"))).code, 404);
    assert.equal((await it.ask("DELETE", `/resources/${id}`, undefined, as("editor"))).code, 404);
    assert.equal((await it.ask("PUT", `/resources/${id}`, replicas(2), as("reader"))).code, 403);
    const totals = await Promise.all(
      ["admin", "editor", "reader"].map(
        async (who) => (await it.ask("GET", "/resources", undefined, as(who))).body.total as number,
      ),
    );
    assert.deepEqual(totals, [2, 1, 2]);
    assert.equal((await it.ask("GET", "/resources", undefined, as("nobody"))).code, 401);
  });
});
