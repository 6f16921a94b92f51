// Query: what is asked, and whom.

import { isJsonArray, isJsonObject, type Json } from "@keelson/base";
import type { FieldPlace } from "@keelson/kube";

import type { QuerySpec } from "../query.ts";
import { findNamed, specToFill, type ArkRules, type Asking } from "./ark-rules.ts";
import type { ArkReferent } from "./lookup.ts";
import { noteMigration } from "./migration.ts";
import { checkKeys, checkOneSource, overridesAt, parametersAt } from "./sources.ts";
import { fillTtl } from "./ttl.ts";

export const queryRules: ArkRules<QuerySpec> = {
  default: async (object, asking) => {
    const spec = specToFill(object);
    if (spec === undefined) return;
    const text = spec["type"] === "messages" ? firstUserText(spec["input"]) : undefined;
    if (text !== undefined) {
      spec["type"] = "user";
      spec["input"] = text;
      const topic = "input-type";
      noteMigration(
        object,
        {
          topic,
          text: "type messages is deprecated, input is now the text of the first user message; conversationId continues a conversation",
        },
        asking.warn,
      );
    }
    await fillTtl(spec, "queryTTL", asking);
  },

  validate: async ({ spec }, at, asking) => {
    checkInput(spec, at.child("input"));
    await checkTargets(spec, at, asking);
    const sources = [
      ...parametersAt(spec.parameters, at.child("parameters")),
      ...overridesAt(spec.overrides, at.child("overrides")),
    ];
    checkOneSource(sources);
    await checkKeys(sources, asking);
  },
};

const kindOfTarget = {
  agent: "Agent",
  team: "Team",
  model: "Model",
  tool: "Tool",
} as const satisfies Record<string, ArkReferent>;

async function checkTargets(spec: QuerySpec, at: FieldPlace, asking: Asking): Promise<void> {
  const { target, targets = [], selector } = spec;
  if (target === undefined && targets.length === 0 && selector === undefined) {
    at.child("target").required("target, targets or selector must be given");
  }
  const all = [
    ...(target === undefined ? [] : [{ target, place: at.child("target") }]),
    ...targets.map((target, index) => ({ target, place: at.child("targets").item(index) })),
  ];
  for (const { target, place } of all) {
    await findNamed(kindOfTarget[target.type], target.name, place.child("name"), asking);
  }
}

function checkInput({ type, input }: QuerySpec, at: FieldPlace): void {
  if (type === "messages") {
    at.invalidUnshown("must be a list of messages, the first of role user with some text");
  } else if (typeof input !== "string") {
    at.invalidUnshown("must be a text where the type is user");
  } else if (input === "") at.required("a query must ask something");
}

/** The text of the first message of role user, its parts one below the other; undefined where there is none. */
function firstUserText(input: Json | undefined): string | undefined {
  const messages = isJsonArray(input) ? input.filter(isJsonObject) : [];
  const content = messages.find(({ role }) => role === "user")?.["content"];
  if (!isJsonArray(content))
    return typeof content === "string" && content !== "" ? content : undefined;
  const texts = content.flatMap((part) =>
    isJsonObject(part) && part["type"] === "text" && typeof part["text"] === "string"
      ? [part["text"]]
      : [],
  );
  const text = texts.join("\n");
  return text === "" ? undefined : text;
}
