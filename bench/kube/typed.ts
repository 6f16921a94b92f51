// How long it takes to decode and default a body of a built-in kind, as every write does.

import { readJson, writeJson, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds, typedKind, type TypedKind } from "@keelson/kube";
import { processorUs } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { deployment } from "./deployment.ts";

const now = "2026-01-01T00:00:00Z";

/** Measures each. */
export async function bench(): Promise<readonly Row[]> {
  const kinds = await loadBuiltinKinds();
  const configMaps = typedKind(kinds, { group: "", version: "v1", kind: "ConfigMap" });
  const deployments = typedKind(kinds, { group: "apps", version: "v1", kind: "Deployment" });
  const large = deployment();
  const pod = { group: "", version: "v1", kind: "Pod" };
  const compiling = processorUs(() => typedKind(kinds, pod));
  return [
    measured("decode and default ConfigMap 1 KB", configMaps, { body: configMap(), goalUs: 10 }),
    measured("decode and default Deployment 10 KB", deployments, { body: large, goalUs: 60 }),
    {
      name: "toStored Deployment 10 KB",
      value: processorUs(() => deployments.toStored(large)),
      unit: "µs",
    },
    { name: "make Pod ready", value: compiling / 1000, unit: "ms" },
  ];
}

/** The baseline is reading the text, without which there is nothing to decode. */
function measured(
  name: string,
  typed: TypedKind,
  { body, goalUs }: { readonly body: JsonObject; readonly goalUs: number },
): Row {
  const text = writeJson(body);
  const value = processorUs(() => {
    const { object } = typed.decode(body);
    typed.applyDefaults(object, { now });
  });
  const baseline = processorUs(() => readJson(text));
  return judged({ name, value, unit: "µs", baseline }, { atMost: goalUs });
}

function configMap(): JsonObject {
  const data = Array.from({ length: 12 }, (_, n) => [`setting-${n}`, "x".repeat(50)] as const);
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "settings", namespace: "default", labels: { app: "a" } },
    data: Object.fromEntries(data),
  };
}
