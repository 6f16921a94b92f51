import { objectOf, textOf } from "../../../object/members.ts";
import type { KindRules } from "../../kind-rules.ts";
import { Place } from "../place.ts";

/** A Pod is bound to a Node, and to nothing else. */
export const bindingRules: KindRules = {
  validate: (binding) => {
    const at = Place.root("target");
    const target = objectOf(binding, "target");
    const kind = textOf(target, "kind");
    if (kind !== "" && kind !== "Node") at.child("kind").notSupported(kind, ["Node", "<empty>"]);
    if (textOf(target, "name") === "") at.child("name").required();
    return at.errors;
  },
};
