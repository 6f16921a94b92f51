// What of a PersistentVolume may change.

import type { Json, JsonObject } from "@keelson/base";

import { goJson } from "../../../go-text/go-json.ts";
import { memberOf } from "../../../object/member.ts";
import {
  has,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
} from "../../../object/members.ts";
import { showInternal, showInternalLines } from "../internal-form.ts";
import { Place } from "../place.ts";
import { semanticEqual } from "../semantic-equal.ts";
import { unifiedDiff } from "../unified-diff.ts";
import { stableLabel } from "./node-labels.ts";
import { volumeSources } from "./persistent-volume-spec.ts";

/** Reports what has changed and must not. */
export function checkVolumeChanges(spec: JsonObject, old: JsonObject, at: Place): void {
  const [source, before] = [sourceOf(spec), sourceOf(old)];
  const [csi, oldCsi] = [maybeObject(spec, "csi"), maybeObject(old, "csi")];
  // The secret for growing may be added later.
  if (csi !== undefined && oldCsi !== undefined && !has(oldCsi, "controllerExpandSecretRef")) {
    source["csi"] = Object.fromEntries(
      Object.entries(csi).filter(([name]) => name !== "controllerExpandSecretRef"),
    );
  }
  if (!semanticEqual(source, before)) {
    const [from, to] = [before, source].map((own) =>
      showInternalLines("core.PersistentVolumeSource", own),
    );
    at.child("persistentvolumesource").forbidden(
      `spec.persistentvolumesource is immutable after creation\n${unifiedDiff(from ?? "", to ?? "")}`,
    );
  }
  const [mode, oldMode] = [spec, old].map((own) => maybeText(own, "volumeMode"));
  if (mode !== oldMode) {
    Place.root("volumeMode", at.errors).invalidShown(goJson(mode ?? null), "field is immutable");
  }
  const affinity = maybeObject(spec, "nodeAffinity");
  const oldAffinity = maybeObject(old, "nodeAffinity");
  if (oldAffinity !== undefined && !isSameAffinity(affinity, oldAffinity)) {
    Place.root("nodeAffinity", at.errors).invalidShown(
      affinity === undefined ? "null" : showInternal("core.VolumeNodeAffinity", affinity),
      "field is immutable, except for updating from beta label to GA",
    );
  }
  const hadClass = has(old, "volumeAttributesClassName");
  if (hadClass && !has(spec, "volumeAttributesClassName")) {
    at.child("volumeAttributesClassName").forbidden(
      "update from non-nil value to nil is forbidden",
    );
  }
}

function sourceOf(spec: JsonObject): Record<string, Json> {
  return Object.fromEntries(
    volumeSources.flatMap(({ name }) => {
      const source = memberOf(spec, name);
      return source === undefined ? [] : [[name, source]];
    }),
  );
}

/** Whether nothing has changed but names of labels, to those that replaced them. */
function isSameAffinity(next: JsonObject | undefined, old: JsonObject): boolean {
  if (next === undefined) return false;
  const termsOf = (own: JsonObject): readonly JsonObject[] =>
    objectsOf(objectOf(own, "required"), "nodeSelectorTerms");
  const [terms, before] = [termsOf(next), termsOf(old)];
  if (terms.length !== before.length) return semanticEqual(next, old);
  return terms.every((term, index) =>
    ["matchExpressions", "matchFields"].every((list) => {
      const own = objectsOf(term, list);
      const last = objectsOf(before[index] ?? {}, list);
      return (
        own.length === last.length &&
        own.every((requirement, position) => {
          const other = last[position] ?? {};
          const key = textOf(requirement, "key");
          const isRenamed = stableLabel(textOf(other, "key")) === key;
          return semanticEqual(requirement, isRenamed ? { ...other, key } : other);
        })
      );
    }),
  );
}
