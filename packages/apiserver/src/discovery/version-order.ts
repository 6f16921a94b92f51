// In which order the versions of a group are preferred (KB 59).

/** Below 0 if `a` is preferred: stable before beta before alpha, higher before lower, then other names by alphabet. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    return right === undefined ? compareNames(a, b) : 1;
  }
  for (const [index, rank] of left.entries()) {
    const difference = (right[index] ?? 0) - rank;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** By alphabet. Names of groups, versions and resources are ASCII. */
export function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const stages: Readonly<Record<string, number>> = { alpha: 1, beta: 2 };

/** Stage, major and minor number; undefined for a name that is not like `v1beta2`. */
function parse(version: string): readonly number[] | undefined {
  const found = /^v([0-9]+)(?:(alpha|beta)([0-9]+))?$/.exec(version);
  if (found === null) return undefined;
  const [, major = "", stage, minor = "0"] = found;
  return [stage === undefined ? 3 : (stages[stage] ?? 0), Number(major), Number(minor)];
}
