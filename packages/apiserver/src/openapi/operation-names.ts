// How operations and their groups are called in OpenAPI.

/** `read`, `apps` and `v1`, `NamespacedDeployment` to `readAppsV1NamespacedDeployment`. */
export function operationId(
  verb: string,
  { group, version }: { readonly group: string; readonly version: string },
  rest: string,
): string {
  return `${verb}${identifier(shortGroup(group), true)}${identifier(version, true)}${identifier(rest, true)}`;
}

/** `apps_v1`, and `apps` without a version. */
export function tagOf(group: string, version?: string): string {
  const tag = identifier(shortGroup(group), false);
  return version === undefined ? tag : `${tag}_${identifier(version, false)}`;
}

/** `getAppsAPIGroup`. */
export function groupOperationId(group: string): string {
  return `get${identifier(shortGroup(group), true)}APIGroup`;
}

function shortGroup(group: string): string {
  return group === "" ? "core" : group.replace(/\.k8s\.io$/, "");
}

/** What is no letter or digit goes, and what follows it is capital. */
function identifier(text: string, isCapital: boolean): string {
  const joined = text
    .split(/[^A-Za-z0-9_]+/)
    .map((word, index) => (index === 0 ? word : capitalised(word)))
    .join("");
  const named = joined.replace(/^[0-9]/, "");
  return isCapital ? capitalised(named) : named;
}

/** With a capital at the beginning. */
export function capitalised(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
}
