// Fields that an apply would take from others, and how they are told (KB 42).

import { compareBytes } from "../go-text/byte-order.ts";
import { quote } from "../go-text/quote.ts";
import { applyConflict } from "../status/failures.ts";
import { causeOf, toldErrorsMax, toldTextMax, untold, untoldText } from "../status/field-error.ts";
import type { StatusError } from "../status/status.ts";
import { FieldSet, printPath } from "./field-set.ts";
import type { ManagedSet } from "./managed-fields.ts";

/** Fields of another manager that would change. */
export interface ManagerConflict {
  /** What tells the manager apart. */
  readonly key: string;
  readonly manager: ManagedSet;
  readonly fields: FieldSet;
}

/** An apply that is not forced and would change fields of others. */
export class ApplyConflicts extends Error {
  readonly code = "APPLY_CONFLICTS";
  readonly conflicts: readonly ManagerConflict[];

  constructor(conflicts: readonly ManagerConflict[]) {
    super(`apply meets fields of ${conflicts.length} other managers`);
    this.name = "ApplyConflicts";
    this.conflicts = conflicts;
  }

  /** All the fields, whoever owns them. */
  get fields(): FieldSet {
    return FieldSet.unionOf(this.conflicts.map(({ fields }) => fields));
  }

  /** The conflicts but for these fields. */
  without(allowed: FieldSet): ApplyConflicts {
    const rest = this.conflicts
      .map((conflict) => ({ ...conflict, fields: withoutPaths(conflict.fields, allowed) }))
      .filter(({ fields }) => !fields.isEmpty);
    return new ApplyConflicts(rest);
  }

  /**
   * The answer: 409 with a cause for each field. Managers are in the order of their keys. Of very many fields only the
   * first are told, and the last cause says that there are more.
   */
  toStatus(): StatusError {
    const listed = list(this.conflicts.toSorted((a, b) => compareBytes(a.key, b.key)));
    const causes = listed.flatMap(({ name, paths }) =>
      paths.map((field) => ({
        reason: "FieldManagerConflict",
        message: `conflict with ${name}`,
        field,
      })),
    );
    let count = 0;
    for (const { fields } of this.conflicts) count += fields.size;
    const isTold = causes.length === count;
    return applyConflict(
      isTold ? causes : [...causes, causeOf(untold)],
      printConflicts(listed, count) + (isTold ? "" : `\n${untoldText}`),
    );
  }
}

interface ListedConflict {
  readonly name: string;
  readonly paths: readonly string[];
}

/** As many as are told. A path is as long as the names above it together, and each may be. */
function list(conflicts: readonly ManagerConflict[]): readonly ListedConflict[] {
  const listed: ListedConflict[] = [];
  let count = 0;
  let length = 0;
  for (const { manager, fields } of conflicts) {
    const paths: string[] = [];
    const name = printManager(manager);
    for (const path of fields.paths()) {
      const text = printPath(path);
      length += name.length + text.length;
      if (count >= toldErrorsMax || (count > 0 && length > toldTextMax)) return listed;
      if (paths.length === 0) listed.push({ name, paths });
      paths.push(text);
      count += 1;
    }
  }
  return listed;
}

function printConflicts(listed: readonly ListedConflict[], count: number): string {
  const first = listed[0];
  if (count === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${first.name}: ${first.paths[0] ?? ""}`;
  }
  const lines = listed.flatMap(({ name, paths }) => [
    `conflicts with ${name}:`,
    ...paths.map((path) => `- ${path}`),
  ]);
  return `Apply failed with ${count} conflicts: ${lines.join("\n")}`;
}

function printManager({ manager, operation, apiVersion, subresource }: ManagedSet): string {
  const name =
    quote(manager) + (subresource === "" ? "" : ` with subresource ${quote(subresource)}`);
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}

/** Not `difference`: only a path that is itself allowed is. */
function withoutPaths(fields: FieldSet, allowed: FieldSet): FieldSet {
  const rest = new FieldSet();
  for (const path of fields.paths()) if (!allowed.has(path)) rest.insert(path);
  return rest;
}
