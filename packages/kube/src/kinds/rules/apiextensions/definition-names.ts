// The names that a definition asks for, or has been given.

import type { JsonObject } from "@keelson/base";

import { goLowerCase } from "../../../go-text/lower-case.ts";
import { textOf, textsOf } from "../../../object/members.ts";
import { dns1035LabelProblems } from "../../../object/names.ts";
import { childPath, invalidField, itemPath, type FieldError } from "../../../status/field-error.ts";

/** What is wrong with names that are there; an empty one may be missing. */
export function validateDefinitionNames(names: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, value: string, prefix = ""): void => {
    const problems = dns1035LabelProblems(prefix === "" ? value : goLowerCase(value));
    if (problems.length > 0) {
      errors.push(invalidField(field, value, `${prefix}${problems.join(",")}`));
    }
  };
  for (const name of ["plural", "singular"]) {
    if (textOf(names, name) !== "") check(childPath(path, name), textOf(names, name));
  }
  for (const name of ["kind", "listKind"]) {
    const prefix = "may have mixed case, but should otherwise match: ";
    if (textOf(names, name) !== "") check(childPath(path, name), textOf(names, name), prefix);
  }
  for (const [index, name] of textsOf(names, "shortNames").entries()) {
    check(itemPath(childPath(path, "shortNames"), index), name);
  }
  const kind = textOf(names, "kind");
  if (kind !== "" && kind === textOf(names, "listKind")) {
    const detail = "kind and listKind may not be the same";
    errors.push(invalidField(childPath(path, "listKind"), kind, detail));
  }
  for (const [index, name] of textsOf(names, "categories").entries()) {
    check(itemPath(childPath(path, "categories"), index), name);
  }
  return errors;
}
