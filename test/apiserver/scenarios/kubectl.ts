// The scenarios API-2 to API-14, LIST-1 and LIST-3 as their sentences say them: kubectl, unmodified.

import assert from "node:assert/strict";

import type { JsonObject } from "@keelson/base";
import { seededRandom } from "@keelson/base";
import { parse, stringify } from "yaml";

import { until } from "../../tools/until.ts";
import { deployment } from "../objects.ts";
import { untilCollectorKnows, type Collected } from "../until-collector-knows.ts";
import { agent, ark, query } from "./ark.ts";
import type { Answered, Scenarios } from "./bed.ts";
import { openStream } from "./stream.ts";

const mergePatch = { "content-type": "application/merge-patch+json" };

export const kubectlScenarios: Scenarios = (it) => {
  it("API-2 explains fields and enums of a Query's target", async (bed) => {
    const shown = await bed.kubectl("explain query.spec.target");
    assert.match(shown, /GROUP: +ark\.mckinsey\.com\nKIND: +Query\nVERSION: +v1alpha1/);
    assert.match(shown, /name\t<string> -required-/);
    assert.match(shown, /enum: agent, team, model, tool/);
  });

  it("API-3 applies an Agent twice, on either side: unchanged, the same revision, no event", async (bed) => {
    const namespace = await bed.namespace("api-3");
    const agents = ark(namespace, "agents");
    for (const [name, flags, twice] of [
      ["client", "", "agent.ark.mckinsey.com/client unchanged\n"],
      ["server", " --server-side", "agent.ark.mckinsey.com/server serverside-applied\n"],
    ] as const) {
      const input = stringify(agent(name, { namespace }));
      await bed.kubectl(`apply${flags} -f -`, { input });
      const first = await bed.must("GET", `${agents}/${name}`);
      assert.equal(await bed.kubectl(`apply${flags} -f -`, { input }), twice);
      assert.deepEqual(await bed.must("GET", `${agents}/${name}`), first);
      const from = first.metadata.resourceVersion;
      assert.deepEqual(await bed.toldSince(agents, { from, mark: agent(`mark-${name}`) }), []);
    }
  });

  it("API-4 replaces an Agent without its status, which stays", async (bed) => {
    const namespace = await bed.namespace("api-4");
    await bed.kubectl("create -f -", { input: stringify(agent("a", { namespace })) });
    const condition = {
      type: "Available",
      status: "True",
      reason: "R",
      message: "",
      lastTransitionTime: "2026-01-01T00:00:00Z",
    };
    const patch = JSON.stringify({ status: { conditions: [condition] } });
    await bed.kubectl(
      `patch agent a -n ${namespace} --subresource=status --type=merge -p ${patch}`,
    );
    const yaml = await bed.kubectl(`get agent a -n ${namespace} -o yaml`);
    const { status, ...rest } = parse(yaml) as Record<string, unknown>;
    assert.deepEqual(status, { conditions: [condition] });
    const spec = { ...(rest["spec"] as JsonObject), prompt: "other" };
    await bed.kubectl("replace -f -", { input: stringify({ ...rest, spec }) });
    const replaced = await bed.must("GET", ark(namespace, "agents", "a"));
    assert.deepEqual([replaced.status, replaced.spec?.["prompt"]], [status, "other"]);
  });

  it("API-5 patches a Query's status, and nothing but that", async (bed) => {
    const namespace = await bed.namespace("api-5");
    const queries = ark(namespace, "queries");
    const created = await bed.must("POST", queries, query("q"));
    const body = { spec: { input: "changed" }, status: { phase: "running" } };
    const patch = JSON.stringify(body);
    await bed.kubectl(
      `patch query q -n ${namespace} --subresource=status --type=merge -p ${patch}`,
    );
    const patched = await bed.must("GET", `${queries}/q`);
    assert.deepEqual(
      [patched.spec, patched.status, patched.metadata.generation],
      [created.spec, { phase: "running" }, 1],
    );
  });

  it("API-6 labels an Agent, then changes its prompt", async (bed) => {
    const namespace = await bed.namespace("api-6");
    const path = ark(namespace, "agents", "a");
    const created = await bed.must("POST", ark(namespace, "agents"), agent("a"));
    await bed.kubectl(`label agent a -n ${namespace} tier=front`);
    const labelled = await bed.must("GET", path);
    await bed.kubectl(`patch agent a -n ${namespace} --type=merge -p {"spec":{"prompt":"new"}}`);
    const prompted = await bed.must("GET", path);
    const states = [created, labelled, prompted].map(({ metadata }) => metadata);
    assert.deepEqual(
      states.map(({ generation }) => generation),
      [1, 1, 2],
    );
    const versions = states.map(({ resourceVersion }) => Number(resourceVersion));
    assert.deepEqual(new Set(versions).size, 3);
    assert.deepEqual(
      versions,
      versions.toSorted((a, b) => a - b),
    );
  });

  it("API-7 refuses what the schema refuses, and what it does not know", async (bed) => {
    const namespace = await bed.namespace("api-7");
    const model = {
      apiVersion: "ark.mckinsey.com/v1alpha1",
      kind: "Model",
      metadata: { name: "m", namespace },
      spec: { model: { value: "m" }, provider: "bedrock", config: { bedrock: { maxTokens: 0 } } },
    };
    const models = ark(namespace, "models");
    const invalid = await bed.send("POST", models, model);
    const { details } = invalid.body as { details: { causes: readonly { field: string }[] } };
    assert.equal(invalid.status, 422);
    assert.ok(details.causes.some(({ field }) => field === "spec.config.bedrock.maxTokens"));
    const said = await bed.refused("create -f -", stringify(model));
    assert.match(said, /spec\.config\.bedrock\.maxTokens/);
    const unknown = { ...agent("a"), spec: { prompt: "p", nonsense: 1 } };
    const agents = ark(namespace, "agents");
    const strict = await bed.send("POST", `${agents}?fieldValidation=Strict`, unknown);
    assert.equal(strict.status, 400);
    assert.match(strict.text, /unknown field \\"spec\.nonsense\\"/);
    const warned = await bed.send("POST", `${agents}?fieldValidation=Warn`, unknown);
    assert.deepEqual(
      [warned.status, warned.warnings.filter((text) => text.startsWith("unknown field"))],
      [201, ['unknown field "spec.nonsense"']],
    );
  });

  it("API-8 tries a new object with --dry-run=server, and nothing is stored", async (bed) => {
    const namespace = await bed.namespace("api-8");
    const agents = ark(namespace, "agents");
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const before = await bed.revisionOf(agents);
    const flags = "apply --dry-run=server -o json -f -";
    const tried = JSON.parse(
      await bed.kubectl(flags, { input: stringify(deployment("d", {}, { namespace })) }),
    ) as Answered;
    assert.equal(tried.metadata.uid.length, 36);
    assert.equal(tried.metadata.resourceVersion, undefined);
    assert.deepEqual([tried.spec?.["replicas"], tried.spec?.["revisionHistoryLimit"]], [1, 10]);
    const custom = JSON.parse(
      await bed.kubectl(flags, { input: stringify(query("q", { namespace })) }),
    ) as Answered;
    assert.deepEqual([custom.spec?.["timeout"], custom.spec?.["type"]], ["5m", "user"]);
    assert.equal(await bed.revisionOf(agents), before);
    assert.equal((await bed.send("GET", `${deployments}/d`)).status, 404);
    assert.equal((await bed.send("GET", ark(namespace, "queries", "q"))).status, 404);
    const queries = ark(namespace, "queries");
    const told = await bed.toldSince(queries, { from: before, mark: query("mark") });
    assert.deepEqual(told, []);
  });

  it("API-9 keeps owners of fields apart, over a restart", async (bed) => {
    const namespace = await bed.namespace("api-9");
    const of = (prompt: string, description?: string): string =>
      stringify({
        ...agent("a", { namespace }),
        spec: { prompt, ...(description === undefined ? {} : { description }) },
      });
    const apply = "apply --server-side -f - --field-manager";
    await bed.kubectl(`${apply}=A`, { input: of("one", "mine") });
    await bed.server.stop("SIGTERM");
    await bed.server.start(bed.signal);
    const said = await bed.refused(`${apply}=B`, of("two"));
    assert.match(said, /conflict with "A".*: \.spec\.prompt/);
    await bed.kubectl(`${apply}=B --force-conflicts`, { input: of("two") });
    const { metadata } = await bed.must("GET", ark(namespace, "agents", "a"));
    const owners = metadata["managedFields"] as { manager: string; fieldsV1: JsonObject }[];
    const ownersOfPrompt = owners.filter(({ fieldsV1 }) =>
      JSON.stringify(fieldsV1).includes('"f:prompt"'),
    );
    assert.deepEqual(
      ownersOfPrompt.map(({ manager }) => manager),
      ["B"],
    );
    await bed.kubectl(`${apply}=A`, { input: of("two") });
    const { spec } = await bed.must("GET", ark(namespace, "agents", "a"));
    assert.deepEqual([spec?.["prompt"], spec?.["description"]], ["two", undefined]);
  });

  it("API-10 merges strategically where kinds are known by heart, and otherwise says 415", async (bed) => {
    const namespace = await bed.namespace("api-10");
    const input = stringify(agent("a", { namespace }));
    assert.match(await bed.kubectl("apply -f -", { input }), /created/);
    const path = ark(namespace, "agents", "a");
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    const body = { spec: { prompt: "x" } };
    const strategic = await bed.ask({ method: "PATCH", path, headers, body });
    assert.equal(strategic.status, 415);
    const words = `patch agent a -n ${namespace} --type=strategic -p {"spec":{"prompt":"x"}}`;
    assert.match(await bed.refused(words), /not supported|Unsupported|unsupported|unknown format/);
    const again = input.replace("prompt: p", "prompt: applied");
    assert.match(await bed.kubectl("apply -f -", { input: again }), /configured/);
    await bed.kubectl(`label agent a -n ${namespace} tier=front`);
    await bed.kubectl(`patch agent a -n ${namespace} --type=merge -p {"spec":{"description":"d"}}`);
    const { spec, metadata } = await bed.must("GET", path);
    assert.deepEqual(
      [spec?.["prompt"], spec?.["description"], metadata["labels"]],
      ["applied", "d", { tier: "front" }],
    );
    const containers = ["a", "b"].map((name) => ({ name, image: `${name}:1` }));
    const template = { metadata: { labels: { app: "x" } }, spec: { containers } };
    const made = stringify(deployment("d", { template }, { namespace }));
    await bed.kubectl("create -f -", { input: made });
    const change = { template: { spec: { containers: [{ name: "b", image: "b:2" }] } } };
    await bed.kubectl(`patch deployment d -n ${namespace} -p ${JSON.stringify({ spec: change })}`);
    const images = await bed.kubectl(`get deployment d -n ${namespace} -o jsonpath={..image}`);
    assert.deepEqual(images.split(" ").sort(), ["a:1", "b:2"]);
  });

  it("API-11 creates nothing where there is no namespace, or none for long", async (bed) => {
    const input = stringify(agent("a"));
    const missing = await bed.send("POST", ark("ghost", "agents"), agent("a"));
    assert.equal(missing.status, 404);
    assert.match(
      await bed.refused("create -n ghost -f -", input),
      /NotFound.*namespaces "ghost" not found/,
    );
    const namespace = await bed.namespace("api-11");
    const agents = ark(namespace, "agents");
    await bed.must("POST", agents, agent("held", { finalizers: ["example.com/hold"] }));
    await bed.kubectl(`delete namespace ${namespace} --wait=false`);
    let tries = 0;
    const late = await until(async () => {
      const answer = await bed.send("POST", agents, agent(`late-${(tries += 1)}`));
      return answer.status === 403 && answer;
    }, bed.signal);
    const { details } = late.body as { details: { causes: readonly { reason: string }[] } };
    assert.equal(details.causes[0]?.reason, "NamespaceTerminating");
    assert.match(await bed.refused(`create -n ${namespace} -f -`, input), /is being terminated/);
    const body = { metadata: { finalizers: null } };
    const path = `${agents}/held`;
    const request = { method: "PATCH", path, body, headers: mergePatch } as const;
    assert.equal((await bed.ask(request)).status, 200);
    await bed.kubectl(`wait namespace/${namespace} --for=delete --timeout=240s`);
  });

  for (const cascade of ["background", "foreground", "orphan"] as const) {
    it(`API-12 deletes an MCPServer with 20 Tools: ${cascade}`, async (bed) => {
      const namespace = await bed.namespace(`api-12-${cascade}`);
      const [servers, tools] = [ark(namespace, "mcpservers"), ark(namespace, "tools")];
      const from = await bed.revisionOf(tools);
      const apiVersion = "ark.mckinsey.com/v1alpha1";
      const owner = await bed.must("POST", servers, {
        apiVersion,
        kind: "MCPServer",
        metadata: { name: "server" },
        spec: { address: { value: "http://mcp" } },
      });
      const { uid } = owner.metadata;
      const reference = { apiVersion, kind: "MCPServer", name: "server", uid };
      const ownerReferences = [{ ...reference, blockOwnerDeletion: true }];
      const names = Array.from({ length: 20 }, (_, index) => `tool-${index}`);
      const spec = { type: "mcp", mcp: { mcpServerRef: { name: "server" }, toolName: "t" } };
      const make: Collected["make"] = (name, owners) => ({
        apiVersion,
        kind: "Tool",
        metadata: { name, ownerReferences: owners },
        spec,
      });
      await Promise.all(names.map((name) => bed.must("POST", tools, make(name, ownerReferences))));
      const send: Collected["send"] = async (request) => await bed.ask(request);
      await untilCollectorKnows({ namespace, collection: tools, make, send }, bed.signal);
      await bed.kubectl(`delete mcpserver server -n ${namespace} --cascade=${cascade}`);
      assert.equal((await bed.send("GET", `${servers}/server`)).status, 404);
      const left = async (): Promise<readonly Answered[]> =>
        (await bed.must("GET", tools)).items ?? [];
      if (cascade === "orphan") {
        const references = (await left()).map(({ metadata }) => metadata["ownerReferences"]);
        assert.deepEqual(
          references,
          names.map(() => undefined),
        );
        return;
      }
      // Those that go first are gone by now; the others follow.
      if (cascade === "foreground") assert.deepEqual(await left(), []);
      else await until(async () => (await left()).length === 0, bed.signal);
      const gone = async (path: string, count: number): Promise<number> => {
        using stream = await openStream(
          bed.server,
          `${path}?watch=1&resourceVersion=${from}`,
          bed.signal,
        );
        const events = await stream.take(count, bed.signal);
        assert.equal(events.at(-1)?.type, "DELETED");
        return Number(events.at(-1)?.revision);
      };
      if (cascade === "foreground") {
        assert.ok((await gone(tools, 42)) < (await gone(servers, 3)));
      }
    });
  }

  it("API-13 deletes what a finalizer holds: marked once, gone once", async (bed) => {
    const namespace = await bed.namespace("api-13");
    const agents = ark(namespace, "agents");
    const created = await bed.must("POST", agents, agent("a", { finalizers: ["example.com/a"] }));
    const from = created.metadata.resourceVersion;
    await bed.kubectl(`delete agent a -n ${namespace} --wait=false`);
    const marked = await bed.must("GET", `${agents}/a`);
    assert.equal(typeof marked.metadata["deletionTimestamp"], "string");
    assert.equal(marked.metadata.generation, 2);
    await bed.kubectl(`delete agent a -n ${namespace} --wait=false`);
    assert.deepEqual(await bed.must("GET", `${agents}/a`), marked);
    await bed.kubectl(
      `patch agent a -n ${namespace} --type=merge -p {"metadata":{"finalizers":null}}`,
    );
    const told = await bed.toldSince(agents, { from, mark: agent("mark") });
    assert.deepEqual(told, ["MODIFIED a", "DELETED a"]);
  });

  it("API-14 deletes those of 50 Agents that are selected", async (bed) => {
    const namespace = await bed.namespace("api-14");
    const agents = ark(namespace, "agents");
    const fill = async (): Promise<void> => {
      const made = Array.from({ length: 50 }, (_, index) =>
        bed.must(
          "POST",
          agents,
          agent(`a-${index}`, { labels: { team: index % 2 === 0 ? "x" : "y" } }),
        ),
      );
      await Promise.all(made);
    };
    const teams = async (): Promise<unknown> => {
      const { items = [] } = await bed.must("GET", agents);
      return [
        items.length,
        [...new Set(items.map(({ metadata }) => JSON.stringify(metadata["labels"])))],
      ];
    };
    await fill();
    await bed.must("DELETE", `${agents}?labelSelector=team%3Dx`);
    assert.deepEqual(await teams(), [25, ['{"team":"y"}']]);
    await bed.must("DELETE", agents);
    await fill();
    await bed.kubectl(`delete agents -l team=x -n ${namespace}`);
    assert.deepEqual(await teams(), [25, ['{"team":"y"}']]);
  });

  it("LIST-1 counts 11,105 Agents by their lines", async (bed) => {
    const namespace = await bed.namespace("list-1");
    using load = bed.newLoad();
    const template = agent("{name}");
    const path = ark(namespace, "agents");
    const objects = 11_105;
    const filled = await load.run(
      { verb: "fill", path, objects, clients: 16, template },
      bed.signal,
    );
    assert.deepEqual([filled.requests, filled.errors], [objects, {}], filled.sample);
    const shown = await bed.kubectl(`get agents --no-headers -n ${namespace}`);
    assert.equal(shown.match(/\n/g)?.length, objects);
    const names = shown.split("\n", objects).map((line) => line.slice(0, line.indexOf(" ")));
    assert.equal(new Set(names).size, objects);
  });

  it("LIST-3 selects by labels as a client would, by declared fields, and by no others", async (bed) => {
    const namespace = await bed.namespace("list-3");
    const random = seededRandom(bed.driver);
    const sets = Array.from({ length: 60 }, (_, index) => {
      const labels: Record<string, string> = {};
      if (random.integer(2) === 1) labels["tier"] = random.pick(["a", "b", "c"]);
      if (random.integer(3) === 0) labels["tmp"] = "1";
      if (random.integer(3) > 0) labels["app"] = `x${random.integer(2)}`;
      return { name: `a-${String(index).padStart(2, "0")}`, labels };
    });
    const agents = ark(namespace, "agents");
    await Promise.all(
      sets.map(({ name, labels }) => bed.must("POST", agents, agent(name, { labels }))),
    );
    const selector = "tier notin (a,b),!tmp,app";
    const shown = await bed.commands.must(
      "kubectl",
      [
        "get",
        "agents",
        "-n",
        namespace,
        "-l",
        selector,
        "-o",
        "jsonpath={.items[*].metadata.name}",
      ],
      bed.signal,
    );
    const expected = sets.filter(({ labels: { tier = "", tmp, app } }) => {
      return !["a", "b"].includes(tier) && tmp === undefined && app !== undefined;
    });
    assert.ok(expected.length > 0 && expected.length < sets.length);
    assert.deepEqual(
      shown.split(" "),
      expected.map(({ name }) => name),
    );
    const queries = ark(namespace, "queries");
    for (const name of ["a", "b"]) await bed.must("POST", queries, query(name));
    const patch = '{"status":{"phase":"done"}}';
    await bed.kubectl(
      `patch query b -n ${namespace} --subresource=status --type=merge -p ${patch}`,
    );
    const get = `get queries -n ${namespace} -o name --field-selector`;
    assert.equal(await bed.kubectl(`${get} status.phase=done`), "query.ark.mckinsey.com/b\n");
    assert.match(await bed.refused(`${get} spec.input=hello`), /field label not supported/);
  });
};
