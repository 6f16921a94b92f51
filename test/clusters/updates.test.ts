// Scenarios 8 to 10 of the contract: a spec is replaced, once for each generation.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { alice, gcp, release, startClustersRest } from "./clusters-rest.ts";

suite("updates of clusters", () => {
  test("8, 9, 10: a new spec is a new generation and one event; the same spec is nothing at all", async () => {
    await using it = await startClustersRest();
    const id = await it.cluster(alice, "one", { ...gcp, n: 1, list: [1] });
    await it.report(`/clusters/${id}`, "dns");
    const before = (await it.ask(alice, "GET", `/clusters/${id}`)).body;
    assert.equal(before.status.phase, "Ready");
    const put = (body: object, headers = {}) =>
      it.ask(alice, "PUT", `/clusters/${id}`, body as never, headers);

    const same = await put({ spec: { list: [1], n: 1, ...gcp } });
    assert.deepEqual([same.code, same.body], [200, before]);
    assert.equal((await it.events()).filter(({ type }) => type === "cluster.updated").length, 0);

    for (const [body, field] of [
      [{}, "spec"],
      [{ spec: release({ version: "1", channelGroup: "nightly" }) }, "spec.release.channelGroup"],
      [{ spec: gcp, name: "other" }, "name"],
      [{ spec: gcp, generation: 1, expected_generation: 2 }, "expected_generation"],
    ] as const) {
      const refused = await put(body);
      assert.deepEqual([refused.code, refused.body.details.fields[0].field], [400, field]);
    }
    assert.deepEqual((await it.ask(alice, "GET", `/clusters/${id}`)).body, before);

    const changed = await put({ spec: { ...gcp, n: 2 }, name: "one" });
    assert.deepEqual(
      [changed.code, changed.body.generation, changed.body.spec, changed.body.status.phase],
      [200, 2, { ...gcp, n: 2 }, "Progressing"],
    );
    assert.notEqual(changed.body.resource_version, before.resource_version);
    assert.equal(changed.headers["etag"], `"${changed.body.resource_version}"`);
    const project = await put({ spec: { ...gcp, n: 2 }, target_project_id: "p" });
    assert.deepEqual([project.body.generation, project.body.target_project_id], [3, "p"]);
    assert.equal((await put({ spec: { ...gcp, n: 2 } })).body.target_project_id, "p");
    const told = (await it.events()).filter(({ type }) => type === "cluster.updated");
    assert.deepEqual(
      told.map(({ generation, reason }) => [generation, reason]),
      [
        [2, "spec_change"],
        [3, "spec_change"],
      ],
    );
  });

  test("8: who expects another version or generation is told what is there", async () => {
    await using it = await startClustersRest();
    const id = await it.cluster(alice);
    const { resource_version: first } = (await it.ask(alice, "GET", `/clusters/${id}`)).body;
    const put = (n: number, more: object, headers: Record<string, string> = {}) =>
      it.ask(alice, "PUT", `/clusters/${id}`, { spec: { ...gcp, n }, ...more }, headers);
    const good = await put(1, { generation: 1 }, { "if-match": `"${first}"` });
    const { resource_version: second } = good.body;
    assert.equal(good.code, 200);
    const current = { generation: 2, resource_version: second };
    for (const [more, headers, code, word] of [
      [{}, { "if-match": `"${first}"` }, 412, "PRECONDITION_FAILED"],
      [{}, { "if-match": "nonsense" }, 412, "PRECONDITION_FAILED"],
      [{ generation: 1 }, {}, 409, "GENERATION_CONFLICT"],
      [{ expected_generation: 3 }, {}, 409, "GENERATION_CONFLICT"],
    ] as const) {
      const refused = await put(2, more, headers);
      assert.deepEqual(
        [refused.code, refused.body.code, refused.body.details],
        [code, word, current],
      );
    }
    const { body: other } = await put(2, {}, { "if-match": `"${first}"` });
    assert.equal(other.error, "the cluster has another resource_version");
    const { body: bare } = await put(2, {}, { "if-match": second });
    assert.equal(bare.error, 'If-Match must have the resource_version in quotes, as "…"');
    for (const headers of [{ "if-match": `"${first}", "${second}"` }, { "if-match": "*" }]) {
      assert.equal((await put(1, {}, headers)).code, 200);
    }
  });

  test("8: unconditional updates at once give one spec per generation", async () => {
    await using it = await startClustersRest();
    const id = await it.cluster(alice);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        it.ask(alice, "PUT", `/clusters/${id}`, { spec: { ...gcp, n } }),
      ),
    );
    const generations = answers.map(({ body }) => body.generation as number);
    assert.deepEqual(
      generations.toSorted((a, b) => a - b),
      Array.from({ length: 12 }, (_, i) => i + 2),
    );
    const last = answers.find(({ body }) => body.generation === 13);
    const { body } = await it.ask(alice, "GET", `/clusters/${id}`);
    assert.deepEqual(body.spec, last?.body.spec);
    const told = (await it.events()).filter(({ type }) => type === "cluster.updated");
    assert.deepEqual(
      told.map(({ generation }) => generation),
      Array.from({ length: 12 }, (_, i) => i + 2),
    );
  });
});
