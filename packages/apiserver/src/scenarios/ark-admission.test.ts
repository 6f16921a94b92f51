import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";
import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { messageOf, meta, type Api, type Reply } from "../testing/api.ts";
import { eachBackend } from "../testing/each-backend.ts";
import { agent, ark, configMap, core } from "../testing/objects.ts";

const apiVersion = "ark.mckinsey.com/v1alpha1";
const configs = "/apis/ark.mckinsey.com/v1alpha1/arkconfigs";

function of(kind: string, name: string, spec: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { apiVersion, kind, metadata: { name, ...metadata }, spec };
}

function query(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  const target = { type: "agent", name: "a" };
  return of("Query", name, { input: "hi", target, ...spec }, metadata);
}

const specOf = ({ object }: Reply): JsonObject => object["spec"] as JsonObject;
const metadataOf = ({ object }: Reply): JsonObject => object["metadata"] as JsonObject;

/** Paths of the problems of a refusal, which must be one. */
function problemsOf(reply: Reply): readonly string[] {
  assert.deepEqual([reply.code, reply.object["reason"]], [422, "Invalid"], reply.text);
  const { causes } = reply.object["details"] as { causes: { field: string; reason: string }[] };
  return causes.map(({ field, reason }) => `${field} ${reason}`);
}

/** Who owns what, by manager: paths of fields, without those of the metadata that everybody has. */
function ownersOf(reply: Reply): Readonly<Record<string, JsonObject>> {
  const fields = metadataOf(reply)["managedFields"] as { manager: string; fieldsV1: JsonObject }[];
  return Object.fromEntries(
    fields.map(({ manager, fieldsV1 }) => [manager, fieldsV1["f:spec"] as JsonObject]),
  );
}

async function make(api: Api, path: string, body: JsonObject): Promise<Reply> {
  const reply = await api.create(path, body);
  assert.equal(reply.code, 201, reply.text);
  return reply;
}

eachBackend(
  "admission of the Ark kinds",
  () => sharedThrowawayPostgres("embedded"),
  (it) => {
    it("what a Query names must be there when it is asked", async ({ api, namespace }) => {
      const own = await namespace();
      const queries = ark(own, "queries");
      const refused = await api.create(queries, query("q"));
      assert.deepEqual(problemsOf(refused), ["spec.target.name FieldValueNotFound"]);
      assert.equal(
        messageOf(refused),
        `Query.ark.mckinsey.com "q" is invalid: spec.target.name: Not found: "a": there is no Agent of this name in namespace ${own}`,
      );
      // One of another namespace does not count.
      await make(api, ark(await namespace(), "agents"), agent("a"));
      assert.equal((await api.create(queries, query("q"))).code, 422);
      await make(api, ark(own, "agents"), agent("a"));
      const made = await make(api, queries, query("q"));
      assert.deepEqual(
        [specOf(made)["ttl"], specOf(made)["timeout"], meta(made, "generation")],
        ["720h", "5m", "1"],
      );
    });

    it("keys of Secrets and ConfigMaps must be there", async ({ api, namespace }) => {
      const own = await namespace();
      await make(api, ark(own, "agents"), agent("a"));
      const parameters = [
        { name: "s", valueFrom: { secretKeyRef: { name: "s", key: "token" } } },
        { name: "c", valueFrom: { configMapKeyRef: { name: "c", key: "host" } } },
      ];
      const path = ark(own, "queries");
      const at = (index: number, kind: string) => `spec.parameters[${index}].valueFrom.${kind}`;
      assert.deepEqual(problemsOf(await api.create(path, query("q", { parameters }))), [
        `${at(0, "secretKeyRef")}.name FieldValueNotFound`,
        `${at(1, "configMapKeyRef")}.name FieldValueNotFound`,
      ]);
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
      await make(api, core(own, "secrets"), { ...secret, stringData: { other: "x" } });
      await make(api, core(own, "configmaps"), configMap("c", { data: { host: "x" } }));
      assert.deepEqual(problemsOf(await api.create(path, query("q", { parameters }))), [
        `${at(0, "secretKeyRef")}.key FieldValueNotFound`,
      ]);
      await api.merge(`${core(own, "secrets")}/s`, { stringData: { token: "x" } });
      await make(api, path, query("q", { parameters }));
    });

    it("a Query without ttl has that of ArkConfig, at once", async ({ api, namespace }) => {
      const own = await namespace();
      await make(api, ark(own, "agents"), agent("a"));
      const ttlOf = async (name: string): Promise<unknown> =>
        specOf(await make(api, ark(own, "queries"), query(name)))["ttl"];
      assert.equal(await ttlOf("before"), "720h");
      await make(
        api,
        configs,
        of("ArkConfig", "default", { queryTTL: "48h", evaluationTTL: "2h" }),
      );
      try {
        assert.equal(await ttlOf("with"), "48h");
        const evaluation = of("Evaluation", "e", { config: {} });
        assert.equal(specOf(await make(api, ark(own, "evaluations"), evaluation))["ttl"], "2h");
        await api.merge(`${configs}/default`, { spec: { queryTTL: "24h" } });
        assert.equal(await ttlOf("changed"), "24h");
        // Whoever says how long is not overruled, and whoever takes it back is filled in again.
        const path = `${ark(own, "queries")}/with`;
        assert.equal(specOf(await api.merge(path, { spec: { ttl: "1h" } }))["ttl"], "1h");
        assert.equal(specOf(await api.merge(path, { spec: { ttl: null } }))["ttl"], "24h");
      } finally {
        await api.delete(`${configs}/default`);
      }
      assert.equal(await ttlOf("after"), "720h");
    });

    it("older values are rewritten by every way of writing, with a note and a warning", async ({
      api,
      namespace,
    }) => {
      const own = await namespace();
      const models = ark(own, "models");
      const config = { bedrock: {} };
      const spec = { model: { value: "m" }, type: "bedrock", config };
      const text =
        "a provider as type is deprecated, bedrock is now the provider and type is completions";
      const rewritten = {
        model: { value: "m" },
        type: "completions",
        provider: "bedrock",
        config,
        pollInterval: "5m",
      };
      const check = (reply: Reply, code: number): void => {
        assert.deepEqual([reply.code, specOf(reply)], [code, rewritten], reply.text);
        assert.deepEqual(metadataOf(reply)["annotations"], {
          "ark.mckinsey.com/migration-warning-provider": text,
        });
        assert.equal(reply.headers.get("warning"), `299 - "${text}"`);
      };
      const dry = await api.send("POST", `${models}?dryRun=All`, {
        body: of("Model", "dry", spec),
      });
      check(dry, 201);
      assert.equal((await api.get(`${models}/dry`)).code, 404);
      const created = await api.create(models, of("Model", "m", spec));
      check(created, 201);
      const put = await api.update(`${models}/m`, of("Model", "m", spec, versionOf(created)));
      check(put, 200);
      check(await api.merge(`${models}/m`, { spec: { type: "bedrock" } }), 200);
      const json = await api.send("PATCH", `${models}/m`, {
        body: [{ op: "replace", path: "/spec/type", value: "bedrock" }],
        headers: { "content-type": "application/json-patch+json" },
      });
      check(json, 200);
      // Each of them changed nothing.
      assert.deepEqual(json.object, created.object);
      check(await api.apply(`${models}/n`, of("Model", "n", spec), "someone"), 201);
    });

    it("who applies an older value twice changes nothing, and keeps what was sent", async ({
      api,
      store,
      namespace,
    }, t) => {
      const own = await namespace();
      await make(api, ark(own, "agents"), agent("a"));
      const members = [{ name: "a", type: "agent" }];
      const graph = { edges: [{ from: "a", to: "a" }] };
      const team = of("Team", "t", { members, strategy: "graph", graph, maxTurns: 3 });
      const path = `${ark(own, "teams")}/t`;
      const first = await api.apply(path, team, "mine");
      assert.equal(first.code, 201, first.text);
      assert.deepEqual(specOf(first), { members, strategy: "sequential", loops: false });
      assert.deepEqual(ownersOf(first), {
        mine: { "f:members": {}, "f:strategy": {}, "f:graph": { "f:edges": {} }, "f:maxTurns": {} },
      });
      const head = await store.head(t.signal);
      const second = await api.apply(path, team, "mine");
      assert.deepEqual([second.code, second.object], [200, first.object]);
      assert.equal(await store.head(t.signal), head);
      assert.match(second.headers.get("warning") ?? "", /strategy graph is deprecated/);
      // The strategy is theirs although its value is not.
      const refused = await api.apply(
        path,
        of("Team", "t", { members, strategy: "selector" }),
        "other",
      );
      assert.deepEqual(
        [refused.code, messageOf(refused)],
        [409, 'Apply failed with 1 conflict: conflict with "mine": .spec.strategy'],
      );
      // What was filled in is nobody's: anybody may say it.
      const loops = of("Team", "t", { members, strategy: "sequential", loops: false });
      assert.equal((await api.apply(path, loops, "other")).code, 200);
    });

    it("what is judged is what a write changes", async ({ api, namespace }) => {
      const own = await namespace();
      const agents = ark(own, "agents");
      const path = `${ark(own, "queries")}/q`;
      await make(api, agents, agent("a"));
      const held = { finalizers: ["example.com/hold"] };
      const created = await make(api, ark(own, "queries"), query("q", {}, held));
      await api.delete(`${agents}/a`);

      assert.equal((await api.merge(path, { metadata: { labels: { a: "b" } } })).code, 200);
      const status = await api.merge(`${path}/status`, { status: { phase: "running" } });
      assert.equal(status.code, 200, status.text);
      const { object: live } = await api.get(path);
      assert.equal((await api.update(path, live)).code, 200);
      const owned = await api.apply(path, query("q"), "mine", "&force=true");
      assert.equal(owned.code, 200, owned.text);
      assert.deepEqual(specOf(owned), specOf(created));
      const refused = await api.merge(path, { spec: { input: "other" } });
      assert.deepEqual(problemsOf(refused), ["spec.target.name FieldValueNotFound"]);
      const tried = await api.send("PATCH", `${path}?dryRun=All`, {
        body: { spec: { cancel: true } },
        headers: { "content-type": "application/merge-patch+json" },
      });
      assert.equal(tried.code, 422);

      // Who is going may go, whatever is written on the way.
      assert.equal((await api.delete(path)).code, 200);
      assert.equal((await api.merge(path, { spec: { input: "last words" } })).code, 200);
      assert.equal((await api.merge(path, { metadata: { finalizers: null } })).code, 200);
      assert.equal((await api.get(path)).code, 404);
    });

    it("a base URL in a Secret is judged, and not told", async ({ api, namespace }) => {
      const own = await namespace();
      const hidden = "https://10.20.30.40/very/hidden";
      const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" } };
      await make(api, core(own, "secrets"), { ...secret, stringData: { url: hidden, key: "k" } });
      const from = (key: string) => ({ valueFrom: { secretKeyRef: { name: "s", key } } });
      const openai = { baseUrl: from("url"), apiKey: from("key") };
      const spec = { model: { value: "gpt" }, provider: "openai", config: { openai } };
      const refused = await api.create(ark(own, "models"), of("Model", "m", spec));
      assert.deepEqual(problemsOf(refused), [
        "spec.config.openai.baseUrl.valueFrom.secretKeyRef FieldValueInvalid",
      ]);
      assert.ok(!refused.text.includes("10.20.30.40") && !refused.text.includes("hidden"));
      await api.merge(`${core(own, "secrets")}/s`, {
        stringData: { url: "https://api.openai.com" },
      });
      await make(api, ark(own, "models"), of("Model", "m", spec));
    });

    it("teams are made of what is there", async ({ api, namespace }) => {
      const own = await namespace();
      await make(api, ark(own, "agents"), agent("here"));
      const away = { prompt: "p", executionEngine: { name: "langchain" } };
      await make(api, ark(own, "agents"), of("Agent", "away", away));
      const teams = ark(own, "teams");
      const team = (name: string, ...members: readonly (readonly [string, string])[]): JsonObject =>
        of("Team", name, {
          strategy: "sequential",
          members: members.map(([type, name]) => ({ type, name })),
        });
      const cases = [
        team("t", ["agent", "here"], ["agent", "away"]),
        team("t", ["team", "t"]),
        team("t", ["team", "u"], ["agent", "nobody"]),
      ];
      assert.deepEqual(
        await Promise.all(cases.map(async (body) => problemsOf(await api.create(teams, body)))),
        [
          ["spec.members[1].name FieldValueInvalid"],
          ["spec.members[0].name FieldValueInvalid"],
          ["spec.members[0].name FieldValueNotFound", "spec.members[1].name FieldValueNotFound"],
        ],
      );
      await make(api, teams, team("u", ["agent", "away"]));
      await make(api, teams, team("t", ["team", "u"], ["agent", "here"]));
      // A team that is there cannot join itself either.
      const joined = await api.merge(`${teams}/t`, {
        spec: { members: [{ type: "team", name: "t" }] },
      });
      assert.deepEqual(problemsOf(joined), ["spec.members[0].name FieldValueInvalid"]);
    });

    it("an inline tool stays one", async ({ api, namespace }) => {
      const tools = ark(await namespace(), "tools");
      const inline = { source: "echo", language: "bash" };
      await make(api, tools, of("Tool", "t", { type: "inline", inline }));
      const changed = await api.merge(`${tools}/t`, {
        spec: { type: "builtin", inline: null, builtin: { name: "noop" } },
      });
      assert.deepEqual(problemsOf(changed), ["spec.type FieldValueInvalid"]);
      const edited = await api.merge(`${tools}/t`, { spec: { inline: { source: "ls" } } });
      assert.equal(edited.code, 200, edited.text);
    });

    it("a name that we make is known to the rules", async ({ api, namespace }) => {
      const own = await namespace();
      const body = {
        apiVersion,
        kind: "Agent",
        metadata: { generateName: "made-" },
        spec: { tools: [{ type: "custom", name: "x" }] },
      };
      const made = await make(api, ark(own, "agents"), body);
      assert.deepEqual(specOf(made)["modelRef"], { name: "default" });
      assert.match(made.headers.get("warning") ?? "", /tool type custom is deprecated/);
    });
  },
);

function versionOf(reply: Reply): JsonObject {
  return { resourceVersion: meta(reply, "resourceVersion") };
}
