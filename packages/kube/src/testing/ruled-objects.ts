// Objects of built-in kinds and their rules, for tests that name a kind as `group/version/kind`.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { loadBuiltinKinds } from "../kinds/builtin-kinds.ts";
import type { KindRules, RuleContext } from "../kinds/kind-rules.ts";
import { rulesOf } from "../kinds/rules/rules-of.ts";
import { typedKind } from "../typed/typed-kind.ts";

export const context: RuleContext = { now: "2026-01-01T00:00:00Z", uuid: () => "u" };

export function rules(kind: string): KindRules {
  const [group = "", , name = ""] = kind.split("/");
  return rulesOf({ group, kind: name });
}

/** Gives a function that makes of a body the object that the rules get. */
export async function objectReader(): Promise<
  (kind: string, body: JsonObject) => MutableJsonObject
> {
  const kinds = await loadBuiltinKinds();
  return (kind, body) => {
    const [group = "", version = "", name = ""] = kind.split("/");
    const typed = typedKind(kinds, { group, version, kind: name });
    const { object } = typed.decode({ metadata: { name: "x", namespace: "n", uid: "u" }, ...body });
    typed.applyDefaults(object, context);
    return object;
  };
}
