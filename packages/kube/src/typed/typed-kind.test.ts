import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { cloneJson, isJsonObject, type Json, type MutableJsonObject } from "@keelson/base";

import { loadBuiltinKinds, loadKindExamples } from "../kinds/builtin-kinds.ts";
import { typedKind } from "./typed-kind.ts";

const kinds = await loadBuiltinKinds();
const examples = await loadKindExamples();
const now = "2026-01-01T00:00:00Z";

/** What the server, and not decoding and defaulting, put there. */
const setByServer: Readonly<Record<string, readonly string[]>> = {
  "": [
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.managedFields",
  ],
  "/v1/Namespace": ["spec.finalizers"],
  "/v1/Node": ["spec.taints"],
  "/v1/PersistentVolume": ["metadata.finalizers", "status.lastPhaseTransitionTime"],
  "/v1/PersistentVolumeClaim": ["metadata.finalizers"],
  "/v1/Pod": [
    "spec.preemptionPolicy",
    "spec.priority",
    "spec.tolerations",
    "status.phase",
    "status.qosClass",
  ],
  "/v1/Service": ["spec.clusterIP", "spec.clusterIPs", "spec.ipFamilies", "spec.ipFamilyPolicy"],
  "apiregistration.k8s.io/v1/APIService": ["status.conditions"],
  "apps/v1/DaemonSet": ["metadata.annotations"],
  "batch/v1/Job": ["metadata.labels", "spec.selector", "spec.template.metadata.labels"],
  "certificates.k8s.io/v1/CertificateSigningRequest": [
    "spec.extra",
    "spec.groups",
    "spec.username",
  ],
  "storage.k8s.io/v1/VolumeAttributesClass": ["metadata.finalizers"],
  // The example has another time than what was sent.
  "events.k8s.io/v1/Event": ["eventTime"],
};

suite("typed kinds", () => {
  test("decoding and defaulting what was sent gives what the oracle stored, for every kind", () => {
    for (const [name, { sent, got }] of Object.entries(examples)) {
      const [group = "", version = "", kind = ""] = name.split("/");
      const typed = typedKind(kinds, { group, version, kind });
      const { object, unknown } = typed.decode(sent);
      typed.applyDefaults(object, { now });
      assert.deepEqual(unknown, []);
      typed.toStored(object);
      assert.deepEqual(without(object, name), without(got, name), name);
    }
  });
});

function without(object: Json, kind: string): Json {
  const copy = cloneJson(object) as MutableJsonObject;
  for (const path of [...(setByServer[""] ?? []), ...(setByServer[kind] ?? [])]) {
    const steps = path.split(".");
    const last = steps.pop() ?? "";
    let place: MutableJsonObject | undefined = copy;
    for (const step of steps) {
      const inside: Json | undefined = place?.[step];
      place = isJsonObject(inside) ? (inside as MutableJsonObject) : undefined;
    }
    if (place !== undefined) delete place[last];
  }
  return copy;
}
