// Volumes that put several sources into one folder.

import type { JsonObject } from "@keelson/base";

import { maybeObject, objectsOf, textOf } from "../../../../object/members.ts";
import { checkTokenSeconds } from "../../meta/token-seconds.ts";
import type { Place } from "../../place.ts";
import { checkLocal, checkMode } from "../paths.ts";
import { checkDownwardFile } from "./downward-api.ts";
import type { PodRuleOptions } from "./pod-options.ts";
import { checkKeyFile } from "./key-files.ts";

/** Trust bundles and certificates are behind gates that are off: they are gone before this is asked. */
export function checkProjected(source: JsonObject, at: Place, options: PodRuleOptions): void {
  checkMode(source, at, { name: "defaultMode" });
  const paths = new Set<string>();
  /** Two sources for one file; messages name what the caller gives. */
  const claim = (path: string, shown: string): void => {
    if (path === "") return;
    if (paths.has(path)) at.invalid(shown, "conflicting duplicate paths");
    else paths.add(path);
  };
  for (const [index, projection] of objectsOf(source, "sources").entries()) {
    const place = at.child("sources").item(index);
    let count = 0;
    for (const name of ["secret", "configMap"]) {
      const files = maybeObject(projection, name);
      if (files === undefined) continue;
      count += 1;
      const own = place.child(name);
      if (textOf(files, "name") === "") own.child("name").required();
      for (const [position, item] of objectsOf(files, "items").entries()) {
        checkKeyFile(item, own.child("items").item(position));
        claim(textOf(item, "path"), textOf(files, "name"));
      }
    }
    const downward = maybeObject(projection, "downwardAPI");
    if (downward !== undefined) {
      count += 1;
      for (const file of objectsOf(downward, "items")) {
        checkDownwardFile(file, place.child("downwardAPI"));
        claim(textOf(file, "path"), textOf(file, "path"));
      }
    }
    const token = maybeObject(projection, "serviceAccountToken");
    if (token !== undefined) {
      count += 1;
      checkToken(token, { own: place.child("serviceAccountToken"), volume: at, options });
    }
    if (count > 1) place.forbidden("may not specify more than 1 volume type per source");
  }
}

function checkToken(
  token: JsonObject,
  {
    own,
    volume,
    options,
  }: { readonly own: Place; readonly volume: Place; readonly options: PodRuleOptions },
): void {
  checkTokenSeconds(token, own);
  const path = textOf(token, "path");
  if (path === "") volume.child("path").required();
  else if (!options.allowNonLocalTokenPath) checkLocal(path, volume.child("path"));
}
