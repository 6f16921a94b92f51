import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { admitArk, type ArkWrite } from "../../testing/ark-bed.ts";

function write(spec: unknown, more: Partial<ArkWrite> = {}) {
  return admitArk({ plural: "agents", name: "alice", spec, ...more });
}

const tools = (...tools: readonly object[]) => ({ tools });

suite("admission of agents", () => {
  test("an agent of ours has a model", async () => {
    const modelRef = { name: "default" };
    assert.deepEqual((await write(undefined)).spec, { modelRef });
    assert.deepEqual((await write({ prompt: "p" })).spec, { prompt: "p", modelRef });
    const own = { modelRef: { name: "gpt", namespace: "models" } };
    assert.deepEqual((await write(own)).spec, own);
    const annotations = { "ark.mckinsey.com/a2a-server-name": "elsewhere" };
    assert.deepEqual((await write({ prompt: "p" }, { metadata: { annotations } })).spec, {
      prompt: "p",
    });
  });

  test("tools of type custom stay, and are told of", async () => {
    const spec = tools(
      { type: "custom", name: "weather" },
      { type: "mcp", name: "search" },
      { type: "custom", name: "news" },
    );
    const outcome = await write(spec);
    const text =
      "tool type custom is deprecated, give the tool's own type (mcp, http, agent, team or builtin): weather, news";
    assert.deepEqual(outcome, {
      spec: { ...spec, modelRef: { name: "default" } },
      annotations: { "ark.mckinsey.com/migration-warning-tool-type-custom": text },
      warnings: [text],
      errors: [],
    });
    const many = Array.from({ length: 9 }, (_, index) => ({ type: "custom", name: `t${index}` }));
    const { warnings } = await write(tools(...many));
    assert.ok(warnings[0]?.endsWith(": t0, t1, t2, t3, t4 and 4 more"), warnings[0]);
  });

  test("tools have names, and those of every agent are known", async () => {
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{ type: "built-in", name: "noop" }, []],
      [{ type: "built-in", name: "terminate" }, []],
      [{ type: "builtin", name: "anything" }, []],
      [{ type: "mcp", name: "x" }, []],
      [
        { type: "built-in", name: "x" },
        ['spec.tools[0].name: Unsupported value: "x": supported values: "noop", "terminate"'],
      ],
      ...["built-in", "custom", "mcp", "http", "agent", "team", "builtin"].map(
        (type) => [{ type }, ["spec.tools[0].name: Required value: a tool must be named"]] as const,
      ),
    ];
    for (const [tool, errors] of cases) {
      assert.deepEqual((await write(tools(tool))).errors, errors, JSON.stringify(tool));
    }
  });

  test("an approval can be waited for, and its patterns are some", async () => {
    const at = "spec.tools[0].approval";
    const cases: readonly (readonly [object, readonly string[]])[] = [
      [{ timeout: "30s", argumentMatches: [{ argument: "path", pattern: "^/etc/.*$" }] }, []],
      [{ argumentMatches: [{ argument: "path", pattern: "(?i)^rm\\b" }] }, []],
      [{ timeout: "0s" }, [`${at}.timeout: Invalid value: "0s": must be longer than 0`]],
      [{ timeout: "-1m" }, [`${at}.timeout: Invalid value: "-1m": must be longer than 0`]],
      [
        { timeout: "99999999999h" },
        [`${at}.timeout: Invalid value: "99999999999h": time: invalid duration "99999999999h"`],
      ],
      [
        {
          argumentMatches: [
            { argument: "a", pattern: "ok" },
            { argument: "a", pattern: "(" },
          ],
        },
        [
          `${at}.argumentMatches[1].pattern: Invalid value: "(": must be a regular expression: error parsing regexp: missing closing ): \`(\``,
        ],
      ],
      // Go has no look-ahead.
      [
        { argumentMatches: [{ argument: "a", pattern: "(?=x)" }] },
        [
          `${at}.argumentMatches[0].pattern: Invalid value: "(?=x)": must be a regular expression: error parsing regexp: invalid or unsupported Perl syntax: \`(?=\``,
        ],
      ],
    ];
    for (const [approval, errors] of cases) {
      const outcome = await write(tools({ type: "mcp", name: "x", approval }));
      assert.deepEqual(outcome.errors, errors, JSON.stringify(approval));
    }
  });

  test("parameters and headers have one source, but need not lead anywhere yet", async () => {
    const missing = { valueFrom: { secretKeyRef: { name: "no", key: "no" } } };
    const { errors } = await write({
      parameters: [{ name: "p" }, { name: "q", ...missing }],
      overrides: [
        {
          resourceType: "mcpserver",
          headers: [
            { name: "h", value: missing },
            { name: "i", value: {} },
          ],
        },
      ],
    });
    assert.deepEqual(errors, [
      "spec.parameters[0]: Required value: value or valueFrom must be given",
      "spec.overrides[0].headers[1].value: Required value: value or valueFrom must be given",
    ]);
  });

  test("who runs elsewhere is warned of tools that do not come along", async () => {
    const all = tools(
      { type: "mcp", name: "search" },
      { type: "http", name: "weather" },
      { type: "custom", name: "wiki" },
      { type: "custom", name: "shell" },
      { type: "custom", name: "gone" },
    );
    const world = {
      "Tool/wiki": { spec: { type: "mcp" } },
      "Tool/shell": { spec: { type: "inline" } },
    };
    const warnings = async (engine: string | undefined, spec: object) => {
      const executionEngine = engine === undefined ? {} : { executionEngine: { name: engine } };
      const outcome = await write({ ...spec, ...executionEngine }, { world });
      assert.deepEqual(outcome.errors, []);
      return outcome.warnings.filter((text) => text.startsWith("spec."));
    };
    assert.deepEqual(await warnings("langchain", all), [
      "spec.executionEngine: engine langchain receives MCP tools only, and not weather (http), shell (inline)",
    ]);
    const many = Array.from({ length: 600 }, (_, index) => ({ type: "custom", name: `t${index}` }));
    assert.deepEqual(await warnings("langchain", tools(...many)), []);
    assert.deepEqual(await warnings(undefined, all), []);
    assert.deepEqual(await warnings("a2a", all), []);
    assert.deepEqual(await warnings("langchain", tools({ type: "mcp", name: "search" })), []);
  });
});
