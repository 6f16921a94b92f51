// Resource versions are decimal integers, and a later write of the same kind has a greater one. They may
// exceed what a JavaScript number holds, so they are compared as texts.

/**
 * Whether the state at version `a` is later than the one at `b`. Where either is no decimal integer nobody can
 * tell: then any other version counts as later, so that nothing is ever held back. No version at all, the empty
 * text, is before every version.
 */
export function isLater(a: string, b: string): boolean {
  if (a === "" || b === "") return a !== "" && b === "";
  if (!decimal.test(a) || !decimal.test(b)) return a !== b;
  return a.length === b.length ? a > b : a.length > b.length;
}

/** The later of two versions. */
export function laterOf(a: string, b: string): string {
  return isLater(b, a) ? b : a;
}

const decimal = /^(0|[1-9][0-9]*)$/;
