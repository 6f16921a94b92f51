// Which names a definition may have: in a group, the first that asks has them.

import { jsonEqual, type Json, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { quote } from "../go-text/quote.ts";
import { at, object, text, texts } from "../kinds/rules/meta/reading.ts";
import {
  conditionOf,
  isConditionTrue,
  saysAlready,
  withCondition,
  withStatus,
  type DefinitionCondition,
} from "./conditions.ts";

/**
 * The definition with the names it may have, and with the conditions NamesAccepted and Established that follow. `all`
 * are the definitions there are, itself among them or not. The same object if nothing changes.
 */
export function acceptNames(
  definition: JsonObject,
  all: readonly JsonObject[],
  now: string,
): JsonObject {
  const asked = object(definition, "spec", "names");
  const accepted = object(definition, "status", "acceptedNames");
  if (jsonEqual(present(asked), present(accepted))) return definition;

  const taken = namesInUse(definition, all);
  const names: MutableJsonObject = { ...(present(accepted) as MutableJsonObject) };
  let conflict: { readonly reason: string; readonly message: string } | undefined;
  const take = (name: string, reason: string, used: ReadonlySet<string>): void => {
    const wanted = text(asked, name);
    const message = conflictOf(wanted, text(accepted, name), used);
    if (message === undefined) names[name] = wanted;
    else conflict = { reason, message };
  };
  take("plural", "PluralConflict", taken.resources);
  take("singular", "SingularConflict", taken.resources);
  const shortNames = texts(asked, "shortNames");
  const own = texts(accepted, "shortNames");
  if (!jsonEqual(shortNames, own)) {
    const messages = shortNames
      .filter((name) => !own.includes(name))
      .flatMap((name) => conflictOf(name, "", taken.resources) ?? []);
    if (messages.length > 0) {
      conflict = { reason: "ShortNamesConflict", message: aggregate(messages) };
    } else names["shortNames"] = [...shortNames];
  }
  take("kind", "KindConflict", taken.kinds);
  take("listKind", "ListKindConflict", taken.kinds);
  names["categories"] = [...texts(asked, "categories")];

  const condition: DefinitionCondition = {
    type: "NamesAccepted",
    ...(conflict === undefined
      ? { status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { status: "False", ...conflict }),
  };
  const next = present(names);
  if (jsonEqual(present(accepted), next) && saysAlready(definition, condition)) return definition;
  const named = withCondition(withStatus(definition, { acceptedNames: next }), condition, now);
  const established = establishedBefore(definition, conflict === undefined);
  return established === undefined ? named : withCondition(named, established, now);
}

/** What Established says before the kind is served; nothing where it is as it was. */
function establishedBefore(
  definition: JsonObject,
  isAccepted: boolean,
): DefinitionCondition | undefined {
  if (isConditionTrue(definition, "Established")) return undefined;
  const condition = { type: "Established", status: "False" } as const;
  if (isAccepted) {
    const message = "the initial names have been accepted";
    return { ...condition, reason: "Installing", message };
  }
  if (conditionOf(definition, "Established") !== undefined) return undefined;
  return { ...condition, reason: "NotAccepted", message: "not all names are accepted" };
}

interface NamesInUse {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function namesInUse(definition: JsonObject, all: readonly JsonObject[]): NamesInUse {
  const group = text(definition, "spec", "group");
  const name = text(definition, "metadata", "name");
  const others = all.filter(
    (one) => text(one, "spec", "group") === group && text(one, "metadata", "name") !== name,
  );
  const accepted = [definition, ...others].map((one) => at(one, "status", "acceptedNames"));
  return {
    resources: new Set(
      accepted.flatMap((names) => [
        text(names, "plural"),
        text(names, "singular"),
        ...texts(names, "shortNames"),
      ]),
    ),
    kinds: new Set(accepted.flatMap((names) => [text(names, "kind"), text(names, "listKind")])),
  };
}

function conflictOf(
  asked: string,
  accepted: string,
  used: ReadonlySet<string>,
): string | undefined {
  return asked === accepted || !used.has(asked) ? undefined : `${quote(asked)} is already in use`;
}

/** Several messages in one: each once, in brackets. */
function aggregate(messages: readonly string[]): string {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? (unique[0] ?? "") : `[${unique.join(", ")}]`;
}

/** Names without those that are empty, save the two that are always written. */
function present(names: JsonObject): Record<string, Json> {
  const kept: Record<string, Json> = {
    plural: text(names, "plural"),
    kind: text(names, "kind"),
  };
  for (const name of ["singular", "listKind"]) {
    if (text(names, name) !== "") kept[name] = text(names, name);
  }
  for (const name of ["shortNames", "categories"]) {
    if (texts(names, name).length > 0) kept[name] = texts(names, name);
  }
  return kept;
}
