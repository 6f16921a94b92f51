// Team: who is in it, and how they take turns.

import { isJsonObject } from "@keelson/base";
import type { FieldPlace } from "@keelson/kube";

import type { TeamSpec } from "../team.ts";
import { externalEngineOf } from "./agent.ts";
import { findNamed, specToFill, type ArkRules, type Asking } from "./ark-rules.ts";
import { noteMigration } from "./migration.ts";

export const teamRules: ArkRules<TeamSpec> = {
  default: (object, { warn }) => {
    const spec = specToFill(object);
    if (spec?.["strategy"] === "round-robin") {
      const loops = spec["maxTurns"] !== undefined;
      spec["strategy"] = "sequential";
      spec["loops"] = loops;
      const why = loops ? "" : "; to go round and round give loops: true and maxTurns";
      const text = `strategy round-robin is deprecated, it is now sequential with loops: ${loops}${why}`;
      noteMigration(object, { topic: "round-robin", text }, warn);
    } else if (spec?.["strategy"] === "graph") {
      spec["strategy"] = "sequential";
      spec["loops"] = false;
      delete spec["graph"];
      delete spec["maxTurns"];
      const text =
        "strategy graph is deprecated, it is now sequential without loops; graph and maxTurns are gone";
      noteMigration(object, { topic: "graph", text }, warn);
    }
  },

  validate: async ({ spec }, at, asking) => {
    await checkMembers(spec, at.child("members"), asking);
    await checkStrategy(spec, at, asking);
    checkEdges(spec, at.child("graph").child("edges"));
  },
};

async function checkMembers({ members }: TeamSpec, at: FieldPlace, asking: Asking): Promise<void> {
  /** The first agent, to which the others must be alike. */
  let first: { readonly name: string; readonly engine: string | undefined } | undefined;
  let isMixed = false;
  for (const [index, { type, name }] of members.entries()) {
    const place = at.item(index).child("name");
    if (type === "team") {
      if (name === asking.name) place.invalid(name, "a team cannot be a member of itself");
      else await findNamed("Team", name, place, asking);
      continue;
    }
    const agent = await findNamed("Agent", name, place, asking);
    if (agent === undefined || isMixed) continue;
    const { spec } = agent;
    // Agents of ours have been judged by their schema.
    const engine = isJsonObject(spec) ? externalEngineOf(spec) : undefined;
    first ??= { name, engine };
    if ((engine === undefined) === (first.engine === undefined)) continue;
    isMixed = true;
    const told = ({ name, engine }: { name: string; engine: string | undefined }): string =>
      engine === undefined ? `${name} has none` : `${name} has ${engine}`;
    place.invalid(
      name,
      `agents with and without an external engine do not mix: ${told(first)}, ${told({ name, engine })}`,
    );
  }
}

async function checkStrategy(spec: TeamSpec, at: FieldPlace, asking: Asking): Promise<void> {
  const { strategy, loops = false, maxTurns, selector } = spec;
  if (strategy === "sequential") {
    if (loops && maxTurns === undefined) at.child("maxTurns").required("loops need an end");
    if (!loops && maxTurns !== undefined) {
      at.child("maxTurns").forbidden("may be given only with loops: true");
    }
  } else if (strategy === "selector") {
    const agent = selector?.agent ?? "";
    const place = at.child("selector").child("agent");
    if (agent === "") place.required("strategy selector needs an agent that selects");
    else await findNamed("Agent", agent, place, asking);
    if (maxTurns === undefined) at.child("maxTurns").required("strategy selector needs an end");
    if (loops) at.child("loops").invalid(true, "must be false with strategy selector");
  }
}

function checkEdges({ graph, members }: TeamSpec, at: FieldPlace): void {
  if (graph === undefined) return;
  if (graph.edges.length === 0) at.required("a graph needs at least one edge");
  const names = new Set(members.map(({ name }) => name));
  for (const [index, edge] of graph.edges.entries()) {
    for (const end of ["from", "to"] as const) {
      if (names.has(edge[end])) continue;
      at.item(index).child(end).invalid(edge[end], "must be the name of a member");
    }
  }
}
