// Whether an app may have what is there already, by the mark that it carries.

import { StepError } from "../steps/step-error.ts";
import { isOwnedBy, type Owner } from "./owner.ts";

/** What something outside the cluster says of itself. */
export interface Mark {
  readonly owner: Owner;
  /** Its owner is gone, or wants it no longer, and it was kept. */
  readonly isRetained: boolean;
}

/** `schema prod_my_app`, and its mark; undefined where nobody of ours has left one. */
export interface Found {
  readonly what: string;
  readonly mark: Mark | undefined;
}

/** Throws a Conflict for what is not `owner`'s, and may not become so either. */
export function claim(
  { what, mark }: Found,
  owner: Owner,
  { adopts }: { readonly adopts: boolean },
): void {
  if (mark === undefined) {
    throw new StepError("Conflict", `${what} exists and belongs to no app of ours`);
  }
  const { owner: other, isRetained } = mark;
  if (isOwnedBy(other, owner)) return;
  const isNamesake = other.namespace === owner.namespace && other.name === owner.name;
  if (isRetained && isNamesake && adopts) return;
  const whose = `${what} belongs to ${other.namespace}/${other.name} (uid ${other.uid})`;
  if (!isRetained) throw new StepError("Conflict", whose);
  const way = isNamesake
    ? 'annotate this one with platform.internal/adopt: "true" to take it over'
    : "only an Application of that namespace and name can take it over";
  throw new StepError("Conflict", `${whose}, which is gone and left it behind: ${way}`);
}
