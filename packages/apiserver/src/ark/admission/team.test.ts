import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { admitArk } from "../../testing/ark-bed.ts";

const world = {
  "Agent/a": { spec: {} },
  "Agent/b": { spec: { executionEngine: { name: "a2a" } } },
  "Agent/out": { spec: { executionEngine: { name: "langchain" } } },
  "Agent/off": { spec: { executionEngine: { name: "crew" } } },
  "Agent/crew": { spec: {} },
  "Team/other": { spec: {} },
};
const agents = (...names: readonly string[]) => names.map((name) => ({ name, type: "agent" }));
const members = agents("a", "b");

function write(spec: unknown) {
  return admitArk({ plural: "teams", name: "crew", spec, world });
}

async function judge(
  cases: readonly (readonly [what: string, spec: unknown, errors: readonly string[]])[],
): Promise<void> {
  for (const [what, spec, errors] of cases) {
    assert.deepEqual((await write(spec)).errors, errors, what);
  }
}

suite("admission of teams", () => {
  test("round-robin becomes sequential, with loops if there is an end to them", async () => {
    const looped = await write({ members, strategy: "round-robin", maxTurns: 3 });
    const once = await write({ members, strategy: "round-robin", loops: true });
    const note = "ark.mckinsey.com/migration-warning-round-robin";
    const first = "strategy round-robin is deprecated, it is now sequential with loops: true";
    const second =
      "strategy round-robin is deprecated, it is now sequential with loops: false; to go round and round give loops: true and maxTurns";
    assert.deepEqual(looped, {
      spec: { members, strategy: "sequential", loops: true, maxTurns: 3 },
      annotations: { [note]: first },
      warnings: [first],
      errors: [],
    });
    assert.deepEqual(once, {
      spec: { members, strategy: "sequential", loops: false },
      annotations: { [note]: second },
      warnings: [second],
      errors: [],
    });
  });

  test("graph becomes sequential without loops, graph and maxTurns", async () => {
    const text =
      "strategy graph is deprecated, it is now sequential without loops; graph and maxTurns are gone";
    const graph = { edges: [{ from: "nobody", to: "a" }] };
    assert.deepEqual(
      await write({
        members,
        strategy: "graph",
        graph,
        maxTurns: 3,
        loops: true,
        description: "d",
      }),
      {
        spec: { members, strategy: "sequential", loops: false, description: "d" },
        annotations: { "ark.mckinsey.com/migration-warning-graph": text },
        warnings: [text],
        errors: [],
      },
    );
  });

  test("members are there, and none is the team itself", async () => {
    const of = (...members: readonly object[]) => ({ members, strategy: "sequential" });
    await judge([
      ["agents and teams", of(...members, { name: "other", type: "team" }), []],
      ["an agent of the same name", of({ name: "crew", type: "agent" }), []],
      ["nobody", of(), []],
      [
        "itself",
        of({ name: "crew", type: "team" }),
        ['spec.members[0].name: Invalid value: "crew": a team cannot be a member of itself'],
      ],
      [
        "some who are not there",
        of({ name: "x", type: "agent" }, { name: "a", type: "team" }),
        [
          'spec.members[0].name: Not found: "x": there is no Agent of this name in namespace team',
          'spec.members[1].name: Not found: "a": there is no Team of this name in namespace team',
        ],
      ],
    ]);
  });

  test("agents with and without an external engine do not mix", async () => {
    const of = (...names: readonly string[]) => ({
      members: agents(...names),
      strategy: "sequential",
    });
    const mixed = "agents with and without an external engine do not mix";
    await judge([
      ["all here", of("a", "b"), []],
      ["all elsewhere", of("out", "off"), []],
      [
        "first here",
        of("a", "out", "off"),
        [`spec.members[1].name: Invalid value: "out": ${mixed}: a has none, out has langchain`],
      ],
      [
        "first elsewhere",
        of("out", "b"),
        [`spec.members[1].name: Invalid value: "b": ${mixed}: out has langchain, b has none`],
      ],
      [
        "teams do not count",
        { members: [...agents("out"), { name: "other", type: "team" }], strategy: "sequential" },
        [],
      ],
    ]);
  });

  test("sequential: maxTurns if there are loops, and only then", async () => {
    const of = (spec: object) => ({ members, strategy: "sequential", ...spec });
    await judge([
      ["neither", of({}), []],
      ["both", of({ loops: true, maxTurns: 2 }), []],
      ["no end", of({ loops: true }), ["spec.maxTurns: Required value: loops need an end"]],
      [
        "an end of nothing",
        of({ maxTurns: 2 }),
        ["spec.maxTurns: Forbidden: may be given only with loops: true"],
      ],
    ]);
  });

  test("selector: an agent that selects, an end, and no loops", async () => {
    const of = (spec: object) => ({ members, strategy: "selector", ...spec });
    const selector = { agent: "out" };
    await judge([
      ["all of it", of({ selector, maxTurns: 2 }), []],
      [
        "none of it",
        of({ loops: true }),
        [
          "spec.selector.agent: Required value: strategy selector needs an agent that selects",
          "spec.maxTurns: Required value: strategy selector needs an end",
          "spec.loops: Invalid value: true: must be false with strategy selector",
        ],
      ],
      [
        "somebody who is not there",
        of({ selector: { agent: "x" }, maxTurns: 2 }),
        ['spec.selector.agent: Not found: "x": there is no Agent of this name in namespace team'],
      ],
    ]);
  });

  test("edges lead from members to members", async () => {
    const of = (...edges: readonly object[]) => ({
      members,
      strategy: "selector",
      selector: { agent: "a" },
      maxTurns: 2,
      graph: { edges },
    });
    await judge([
      ["they do", of({ from: "a", to: "b" }, { from: "b", to: "a" }), []],
      [
        "there is none",
        of(),
        ["spec.graph.edges: Required value: a graph needs at least one edge"],
      ],
      [
        "they do not",
        of({ from: "a", to: "b" }, { from: "x", to: "y" }),
        [
          'spec.graph.edges[1].from: Invalid value: "x": must be the name of a member',
          'spec.graph.edges[1].to: Invalid value: "y": must be the name of a member',
        ],
      ],
    ]);
  });
});
