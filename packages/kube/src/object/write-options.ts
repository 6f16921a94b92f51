// The query parameters of writes, as far as they can be wrong (KB 32, 41, 51, 52).

import { invalid } from "../status/failures.ts";
import {
  forbiddenField,
  notSupportedField,
  requiredField,
  type FieldError,
} from "../status/field-error.ts";
import type { StatusError } from "../status/status.ts";
import { validateFieldManager } from "./metadata-rules.ts";

/** The parameters of a create, update or patch, as they came. */
export interface WriteParameters {
  readonly fieldManager?: string;
  readonly dryRun?: readonly string[];
  readonly fieldValidation?: string;
  /** Only a patch has it. */
  readonly force?: boolean;
}

/** Which options are read: their kind is in the message. */
export type WriteKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

/** What is wrong with the parameters of a write; undefined if nothing is. */
export function refuseParameters(
  kind: WriteKind,
  parameters: WriteParameters,
  { isApply }: { readonly isApply: boolean },
): StatusError | undefined {
  const { fieldManager = "", dryRun = [], fieldValidation = "", force } = parameters;
  const errors: FieldError[] = [];
  if (kind === "PatchOptions" && isApply && fieldManager === "") {
    errors.push(requiredField("fieldManager", "is required for apply patch"));
  }
  if (kind === "PatchOptions" && !isApply && force !== undefined) {
    errors.push(forbiddenField("force", "may not be specified for non-apply patch"));
  }
  errors.push(...validateFieldManager(fieldManager, "fieldManager"));
  if (dryRun.some((value) => value !== "All")) {
    errors.push(notSupportedField("dryRun", dryRun, ["All"]));
  }
  const validations = ["", "Ignore", "Strict", "Warn"];
  if (!validations.includes(fieldValidation)) {
    errors.push(notSupportedField("fieldValidation", fieldValidation, validations));
  }
  if (errors.length === 0) return undefined;
  return invalid({ group: "meta.k8s.io", kind }, "", errors);
}
