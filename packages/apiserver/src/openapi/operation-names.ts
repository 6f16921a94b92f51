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
  let capital = isCapital;
  let result = "";
  for (const [index, letter] of text.split("").entries()) {
    if (/[A-Za-z_]/.test(letter) || (index !== 0 && /[0-9]/.test(letter))) {
      result += capital ? letter.toUpperCase() : letter;
      capital = false;
    } else capital = true;
  }
  return result;
}
