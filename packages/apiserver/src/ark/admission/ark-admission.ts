// Admission of the Ark kinds: what they are given, what they are refused for (apiserver.md §3.4).

import { isJsonObject, jsonEqual, type Json, type JsonObject } from "@keelson/base";
import { failures, FieldPlace } from "@keelson/kube";

import type { AdmissionPlugin, AdmissionRequest } from "../../admission/admission.ts";
import { isTerminating } from "../../object-metadata.ts";
import { arkGroup } from "../ark-group.ts";
import { agentRules } from "./agent.ts";
import type { ArkRules, Asking } from "./ark-rules.ts";
import { askingOnce, referencesMax, TooManyReferences, type ArkLookup } from "./lookup.ts";
import { modelRules } from "./model.ts";
import type { ModelHosts } from "./model-hosts.ts";
import { queryRules } from "./query.ts";
import { arkConfigRules, evaluationRules, evaluatorRules, serverRules } from "./small-kinds.ts";
import { teamRules } from "./team.ts";
import { toolRules } from "./tool.ts";

export interface ArkAdmissionOptions {
  readonly lookup: ArkLookup;
  readonly modelHosts: ModelHosts;
}

/** The rules of each kind by its plural; of a Memory and of an A2ATask the schema is all. A spec is of its kind once that holds. */
const rulesOf: ReadonlyMap<string, ArkRules<JsonObject>> = new Map(
  Object.entries({
    agents: agentRules,
    teams: teamRules,
    models: modelRules,
    queries: queryRules,
    tools: toolRules,
    evaluations: evaluationRules,
    evaluators: evaluatorRules,
    mcpservers: serverRules,
    a2aservers: serverRules,
    arkconfigs: arkConfigRules,
  }) as unknown as readonly (readonly [string, ArkRules<JsonObject>])[],
);

/**
 * Fills in and rewrites on every write of an object itself, and judges what a write changes: one that leaves the spec
 * alone goes through, whatever has become of those it names (A21). An object that is going is left in peace.
 */
export function arkAdmission(options: ArkAdmissionOptions): AdmissionPlugin {
  /** Requests that leave the spec as it was. Rewriting may change it afterwards, which nobody asked for. */
  const idle = new WeakSet<AdmissionRequest>();
  const rulesFor = ({ resource, subresource, old }: AdmissionRequest) =>
    subresource !== "" || (old !== undefined && isTerminating(old))
      ? undefined
      : rulesOf.get(resource.plural);
  return {
    name: "Ark",
    handles: ({ group, plural }, operation) =>
      group === arkGroup && operation !== "DELETE" && rulesOf.has(plural),
    admit: async (request, signal) => {
      const { object, old } = request;
      if (object === undefined) return;
      if (old !== undefined && isSame(object["spec"], old["spec"])) idle.add(request);
      await rulesFor(request)?.default?.(object, askingFor(request, options, signal));
    },
    validate: async (request, signal) => {
      const { object, old } = request;
      const validate = rulesFor(request)?.validate;
      if (object === undefined || validate === undefined || idle.has(request)) return;
      const { spec = {} } = object;
      if (!isJsonObject(spec) || isSame(spec, old?.["spec"])) return;
      const before = old?.["spec"];
      const specs = { spec, old: isJsonObject(before) ? before : undefined };
      await judge(request, async (at) => {
        await validate(specs, at, askingFor(request, options, signal));
      });
    },
  };
}

function askingFor(
  { namespace, name, warn }: AdmissionRequest,
  { lookup, modelHosts }: ArkAdmissionOptions,
  signal: AbortSignal,
): Asking {
  return { namespace, name, lookup: askingOnce(lookup), modelHosts, warn, signal };
}

/** Refuses with everything that is wrong at once. */
async function judge(
  { resource: { group, kind }, name }: AdmissionRequest,
  look: (at: FieldPlace) => Promise<void>,
): Promise<void> {
  const at = FieldPlace.root("spec");
  try {
    await look(at);
  } catch (error) {
    if (!(error instanceof TooManyReferences)) throw error;
    at.forbidden(`may not name more than ${referencesMax} other objects`);
  }
  if (at.errors.length > 0) throw failures.invalid({ group, kind }, name, at.errors);
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === undefined || b === undefined ? a === b : jsonEqual(a, b);
}
