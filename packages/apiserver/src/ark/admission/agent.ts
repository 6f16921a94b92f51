// Agent: which model it has, which tools it may have.

import { isJsonArray, isJsonObject, type JsonObject, type MutableJsonObject } from "@keelson/base";
import type { FieldPlace } from "@keelson/kube";

import { metadataOf } from "../../object-metadata.ts";
import type { AgentSpec } from "../agent.ts";
import { checkApproval } from "./approval.ts";
import { specToFill, type ArkRules, type Asking } from "./ark-rules.ts";
import { noteMigration } from "./migration.ts";
import { checkOneSource, overridesAt, parametersAt } from "./sources.ts";

/** Agents of another server have its model, not one of ours. */
const foreignMark = "ark.mckinsey.com/a2a-server-name";
/** The engine that stands for such a server. It runs nothing itself. */
const foreignEngine = "a2a";
/** Tools that every agent can have, whether there is a Tool or not. */
export const builtinTools = ["noop", "terminate"] as const;
const namesShownMax = 5;
/** Only a warning depends on it. */
const toolsLookedAtMax = 100;

export const agentRules: ArkRules<AgentSpec> = {
  default: (object, { warn }) => {
    if (object["spec"] === undefined) object["spec"] = {};
    const spec = specToFill(object);
    if (spec === undefined) return;
    if (spec["modelRef"] === undefined && !isForeign(object))
      spec["modelRef"] = { name: "default" };
    const custom = toolsIn(spec).filter(({ type }) => type === "custom");
    if (custom.length === 0) return;
    const names = custom.map(({ name }) => (typeof name === "string" ? name : "(no name)"));
    const text = `tool type custom is deprecated, give the tool's own type (mcp, http, agent, team or builtin): ${someOf(names)}`;
    noteMigration(object, { topic: "tool-type-custom", text }, warn);
  },

  validate: async ({ spec }, at, asking) => {
    for (const [index, { type, name, approval }] of (spec.tools ?? []).entries()) {
      const tool = at.child("tools").item(index);
      if (name === undefined) tool.child("name").required("a tool must be named");
      else if (type === "built-in" && !isBuiltin(name)) {
        tool.child("name").notSupported(name, builtinTools);
      }
      checkApproval(approval, tool.child("approval"));
    }
    checkOneSource([
      ...parametersAt(spec.parameters, at.child("parameters")),
      ...overridesAt(spec.overrides, at.child("overrides")),
    ]);
    if (at.errors.length === 0) await warnOfLostTools(spec, at, asking);
  },
};

export function isBuiltin(name: string): boolean {
  return builtinTools.some((known) => known === name);
}

/** The engine outside that runs an agent; undefined where we do. */
export function externalEngineOf({ executionEngine }: AgentSpec): string | undefined {
  const name = executionEngine?.name ?? "";
  return name === "" || name === foreignEngine ? undefined : name;
}

/** An engine outside is told of MCP tools only: an agent that has others will not find them. */
async function warnOfLostTools(spec: AgentSpec, at: FieldPlace, asking: Asking): Promise<void> {
  const engine = externalEngineOf(spec);
  if (engine === undefined) return;
  const lost: string[] = [];
  for (const { type, name = "" } of (spec.tools ?? []).slice(0, toolsLookedAtMax)) {
    const own = type === "custom" ? await typeOfTool(name, asking) : type;
    if (own !== undefined && own !== "mcp") lost.push(`${name} (${own})`);
  }
  if (lost.length === 0) return;
  asking.warn(
    `${at.child("executionEngine").path}: engine ${engine} receives MCP tools only, and not ${someOf(lost)}`,
  );
}

/** The first few of many. */
function someOf(names: readonly string[]): string {
  const rest = names.length - namesShownMax;
  const shown = names.slice(0, namesShownMax).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

/** What a Tool is; undefined if it is not there, or does not say. */
async function typeOfTool(
  name: string,
  { lookup, namespace, signal }: Asking,
): Promise<string | undefined> {
  const tool = await lookup.find("Tool", { namespace, name }, signal);
  const spec = tool?.["spec"];
  const type = isJsonObject(spec) ? spec["type"] : undefined;
  return typeof type === "string" ? type : undefined;
}

function isForeign(object: MutableJsonObject): boolean {
  const { annotations } = metadataOf(object);
  return isJsonObject(annotations) && Object.hasOwn(annotations, foreignMark);
}

function toolsIn(spec: JsonObject): JsonObject[] {
  const { tools } = spec;
  return isJsonArray(tools) ? tools.filter(isJsonObject) : [];
}
