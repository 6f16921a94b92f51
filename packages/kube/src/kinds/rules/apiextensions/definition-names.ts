// The names that a definition asks for, or has been given.

import type { Json } from "@keelson/base";

import { dns1035LabelProblems } from "../../../object/names.ts";
import { childPath, invalidField, itemPath, type FieldError } from "../../../status/field-error.ts";
import { text, texts } from "../meta/reading.ts";

/** What is wrong with names that are there; an empty one may be missing. */
export function validateDefinitionNames(names: Json | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const check = (field: string, value: string, prefix = ""): void => {
    const problems = dns1035LabelProblems(prefix === "" ? value : value.toLowerCase());
    if (problems.length > 0) {
      errors.push(invalidField(field, value, `${prefix}${problems.join(",")}`));
    }
  };
  for (const name of ["plural", "singular"]) {
    if (text(names, name) !== "") check(childPath(path, name), text(names, name));
  }
  for (const name of ["kind", "listKind"]) {
    const prefix = "may have mixed case, but should otherwise match: ";
    if (text(names, name) !== "") check(childPath(path, name), text(names, name), prefix);
  }
  for (const [index, name] of texts(names, "shortNames").entries()) {
    check(itemPath(childPath(path, "shortNames"), index), name);
  }
  const kind = text(names, "kind");
  if (kind !== "" && kind === text(names, "listKind")) {
    const detail = "kind and listKind may not be the same";
    errors.push(invalidField(childPath(path, "listKind"), kind, detail));
  }
  for (const [index, name] of texts(names, "categories").entries()) {
    check(itemPath(childPath(path, "categories"), index), name);
  }
  return errors;
}
