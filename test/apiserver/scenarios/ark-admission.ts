// What kubectl, unmodified, shows of the admission of the Ark kinds.

import assert from "node:assert/strict";

import { stringify } from "yaml";

import { agent, ark } from "./ark.ts";
import type { Scenarios } from "./bed.ts";

const apiVersion = "ark.mckinsey.com/v1alpha1";

/** What the server is told. */
export const admissionEnvironment = {
  ALLOWED_PRIVATE_IP_RANGES: "# the lab\n10.1.0.0/16\n",
  WHITELISTED_MODEL_DOMAINS: "*.example.com # ours\n10.1.2.3\n",
};

export const admissionScenarios: Scenarios = (it) => {
  it("kubectl prints what is said of older values, and applies them twice to no effect", async (bed) => {
    const namespace = await bed.namespace("ark-older");
    await bed.must("POST", ark(namespace, "agents"), agent("a"));
    const input = stringify({
      apiVersion,
      kind: "Team",
      metadata: { name: "t", namespace },
      spec: { members: [{ name: "a", type: "agent" }], strategy: "round-robin", maxTurns: 3 },
    });
    const warning =
      "Warning: strategy round-robin is deprecated, it is now sequential with loops: true\n";
    const apply = async (flags: string): Promise<string> => {
      const words = `apply${flags} -f -`.split(" ");
      const done = await bed.commands.run("kubectl", words, bed.signal, { input });
      assert.equal(done.code, 0, done.stderr);
      return done.stderr;
    };
    const path = ark(namespace, "teams", "t");
    assert.equal(await apply(" --dry-run=server"), warning);
    assert.equal((await bed.send("GET", path)).status, 404);
    assert.equal(await apply(""), warning);
    const first = await bed.must("GET", path);
    assert.deepEqual(
      [first.spec?.["strategy"], first.spec?.["loops"], first.spec?.["maxTurns"]],
      ["sequential", true, 3],
    );
    assert.equal(await apply(""), warning);
    assert.deepEqual(await bed.must("GET", path), first);
  });

  it("kubectl names every field that is wrong", async (bed) => {
    const namespace = await bed.namespace("ark-wrong");
    const query = {
      apiVersion,
      kind: "Query",
      metadata: { name: "q", namespace },
      spec: { input: "hi", target: { type: "agent", name: "gone" }, parameters: [{ name: "p" }] },
    };
    const said = await bed.refused("create -f -", stringify(query));
    assert.match(said, /^The Query "q" is invalid: /);
    assert.match(
      said,
      /spec\.target\.name: Not found: "gone": there is no Agent of this name in namespace ark-wrong/,
    );
    assert.match(said, /spec\.parameters\[0\]: Required value: value or valueFrom must be given/);
  });

  it("kubectl labels and deletes a Query whose agent is gone, and cannot change it", async (bed) => {
    const namespace = await bed.namespace("ark-gone");
    await bed.must("POST", ark(namespace, "agents"), agent("a"));
    await bed.must("POST", ark(namespace, "queries"), {
      apiVersion,
      kind: "Query",
      metadata: { name: "q", finalizers: ["example.com/hold"] },
      spec: { input: "hi", target: { type: "agent", name: "a" } },
    });
    await bed.kubectl(`delete agent a -n ${namespace}`);
    await bed.kubectl(`label query q -n ${namespace} seen=yes`);
    const patch = (body: object): string =>
      `patch query q -n ${namespace} --type=merge -p ${JSON.stringify(body)}`;
    const said = await bed.refused(patch({ spec: { cancel: true } }));
    assert.match(said, /spec\.target\.name: Not found: "a"/);
    await bed.kubectl(`delete query q -n ${namespace} --wait=false`);
    await bed.kubectl(patch({ metadata: { finalizers: null } }));
    assert.equal((await bed.send("GET", ark(namespace, "queries", "q"))).status, 404);
  });

  it("models are where the settings let them be", async (bed) => {
    const namespace = await bed.namespace("ark-hosts");
    const model = (name: string, url: string): string =>
      stringify({
        apiVersion,
        kind: "Model",
        metadata: { name, namespace },
        spec: {
          model: { value: "m" },
          provider: "openai",
          config: { openai: { baseUrl: { value: url }, apiKey: { value: "k" } } },
        },
      });
    for (const [name, url] of [
      ["allowed", "https://10.1.2.3/v1"],
      ["listed", "https://api.example.com/v1"],
    ] as const) {
      await bed.kubectl("create -f -", { input: model(name, url) });
    }
    for (const [url, why] of [
      ["https://10.2.0.1", /ALLOWED_PRIVATE_IP_RANGES/],
      ["https://api.openai.com", /WHITELISTED_MODEL_DOMAINS/],
      ["http://api.example.com", /must be an https URL/],
    ] as const) {
      const said = await bed.refused("create -f -", model("refused", url));
      assert.match(said, /spec\.config\.openai\.baseUrl\.value: Invalid value/);
      assert.match(said, why);
    }
  });
};
