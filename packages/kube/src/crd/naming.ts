// Which names a definition may have: in a group, the first that asks has them.

import { jsonEqual, type Json, type JsonObject, type MutableJsonObject } from "@keelson/base";

import { quote } from "../go-text/quote.ts";
import { objectOf, textOf, textsOf } from "../object/members.ts";
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
  const asked = objectOf(objectOf(definition, "spec"), "names");
  const accepted = objectOf(objectOf(definition, "status"), "acceptedNames");
  if (jsonEqual(present(asked), present(accepted))) return definition;

  const taken = namesInUse(definition, all);
  const names: MutableJsonObject = { ...(present(accepted) as MutableJsonObject) };
  let conflict: { readonly reason: string; readonly message: string } | undefined;
  const take = (name: string, reason: string, used: ReadonlySet<string>): void => {
    const wanted = textOf(asked, name);
    const message = conflictOf(wanted, textOf(accepted, name), used);
    if (message === undefined) names[name] = wanted;
    else conflict = { reason, message };
  };
  take("plural", "PluralConflict", taken.resources);
  take("singular", "SingularConflict", taken.resources);
  const shortNames = textsOf(asked, "shortNames");
  const own = textsOf(accepted, "shortNames");
  if (!jsonEqual(shortNames, own)) {
    const before = new Set(own);
    const messages = shortNames
      .filter((name) => !before.has(name))
      .flatMap((name) => conflictOf(name, "", taken.resources) ?? []);
    if (messages.length > 0) {
      conflict = { reason: "ShortNamesConflict", message: aggregate(messages) };
    } else names["shortNames"] = [...shortNames];
  }
  take("kind", "KindConflict", taken.kinds);
  take("listKind", "ListKindConflict", taken.kinds);
  names["categories"] = [...textsOf(asked, "categories")];

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
  const group = textOf(objectOf(definition, "spec"), "group");
  const name = textOf(objectOf(definition, "metadata"), "name");
  const others = all.filter(
    (one) =>
      textOf(objectOf(one, "spec"), "group") === group &&
      textOf(objectOf(one, "metadata"), "name") !== name,
  );
  const accepted = [definition, ...others].map((one) =>
    objectOf(objectOf(one, "status"), "acceptedNames"),
  );
  return {
    resources: new Set(
      accepted.flatMap((names) => [
        textOf(names, "plural"),
        textOf(names, "singular"),
        ...textsOf(names, "shortNames"),
      ]),
    ),
    kinds: new Set(accepted.flatMap((names) => [textOf(names, "kind"), textOf(names, "listKind")])),
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
    plural: textOf(names, "plural"),
    kind: textOf(names, "kind"),
  };
  for (const name of ["singular", "listKind"]) {
    if (textOf(names, name) !== "") kept[name] = textOf(names, name);
  }
  for (const name of ["shortNames", "categories"]) {
    if (textsOf(names, name).length > 0) kept[name] = textsOf(names, name);
  }
  return kept;
}
