import { goLowerCase } from "../../go-text/lower-case.ts";
import { isUnset, objectAt, objectsAt, type DefaultRules } from "./default-rule.ts";

export const apiextensionsDefaults: DefaultRules = {
  "apiextensions.v1.CustomResourceDefinition": {
    owns: [],
    apply: (definition) => {
      const names = objectAt(definition, "spec", "names");
      const kind = names?.["kind"];
      if (names !== undefined && typeof kind === "string" && kind !== "") {
        if (isUnset(names, "singular")) names["singular"] = goLowerCase(kind);
        if (isUnset(names, "listKind")) names["listKind"] = `${kind}List`;
      }
      const status = objectAt(definition, "status");
      const stored = status?.["storedVersions"];
      if (status === undefined || (Array.isArray(stored) && stored.length > 0)) return;
      const versions = objectsAt(objectAt(definition, "spec"), "versions");
      const version = versions.find(({ storage }) => storage === true);
      if (version !== undefined) status["storedVersions"] = [version["name"] ?? ""];
    },
  },
};
