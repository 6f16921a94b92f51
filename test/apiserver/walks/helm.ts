// A chart with hooks through its life with Helm.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Target } from "../target.ts";
import { Commands } from "./commands.ts";

const files: Readonly<Record<string, string>> = {
  "Chart.yaml": "apiVersion: v2\nname: walk\nversion: 0.1.0\n",
  "values.yaml": "text: first\nreplicas: 1\n",
  "templates/settings.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
  labels: { app: walk }
data:
  text: {{ .Values.text | quote }}
`,
  "templates/web.yaml": `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-web
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: walk } }
  template:
    metadata: { labels: { app: walk } }
    spec:
      containers:
        - { name: web, image: "web:1", ports: [ { containerPort: 80 } ] }
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .Release.Name }}-web
spec:
  selector: { app: walk }
  ports: [ { port: 80 } ]
`,
  "templates/hook.yaml": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-before
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation
data:
  revision: {{ .Release.Revision | quote }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-after
  annotations:
    helm.sh/hook: post-delete
data: {}
`,
  "crds/walker.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: walkers.helm.example.com
spec:
  group: helm.example.com
  scope: Namespaced
  names: { plural: walkers, singular: walker, kind: Walker, listKind: WalkerList }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: integer } } } } }
`,
  "templates/walker.yaml": `apiVersion: helm.example.com/v1
kind: Walker
metadata:
  name: {{ .Release.Name }}
spec:
  size: {{ .Values.replicas }}
`,
};

export async function helmWalk(
  target: Target,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  const commands = new Commands(target);
  const chart = join(target.folder, "chart");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(chart, name, ".."), { recursive: true });
    writeFileSync(join(chart, name), text);
  }
  const helm = async (...arguments_: string[]): Promise<string> =>
    await commands.must("helm", [...arguments_, "-n", namespace], signal);
  const read = async (kind: string, name: string, path: string): Promise<string> =>
    await commands.must(
      "kubectl",
      ["get", kind, name, "-n", namespace, "-o", `jsonpath=${path}`],
      signal,
    );

  assert.match(await helm("install", "one", chart, "--create-namespace"), /STATUS: deployed/);
  assert.equal(await read("cm", "one-settings", "{.data.text}"), "first");
  assert.equal(await read("cm", "one-before", "{.data.revision}"), "1");
  assert.equal(await read("walkers.helm.example.com", "one", "{.spec.size}"), "1");
  assert.match(await helm("list", "-o", "json"), /"revision":"1"/);

  assert.match(
    await helm("upgrade", "one", chart, "--set", "text=second,replicas=3"),
    /STATUS: deployed/,
  );
  assert.equal(await read("cm", "one-settings", "{.data.text}"), "second");
  assert.equal(await read("deployment", "one-web", "{.spec.replicas}"), "3");
  assert.equal(await read("cm", "one-before", "{.data.revision}"), "2");
  assert.match(await helm("history", "one"), /superseded/);
  assert.match(await helm("get", "values", "one"), /text: second/);

  assert.match(await helm("rollback", "one", "1"), /Rollback was a success/);
  assert.equal(await read("cm", "one-settings", "{.data.text}"), "first");
  assert.equal(await read("deployment", "one-web", "{.spec.replicas}"), "1");
  const failed = await commands.run(
    "helm",
    ["upgrade", "one", chart, "-n", namespace, "--set", "replicas=-1"],
    signal,
  );
  assert.notEqual(failed.code, 0, "a Deployment with -1 replicas was taken");
  assert.match(failed.stderr + failed.stdout, /replicas|must be greater than or equal to 0/);
  await helm("upgrade", "one", chart, "--reset-values");

  assert.match(await helm("uninstall", "one"), /uninstalled/);
  const left = await commands.must(
    "kubectl",
    ["get", "deployment,service,walkers.helm.example.com", "-n", namespace, "-o", "name"],
    signal,
  );
  assert.equal(left.trim(), "");
  assert.equal(await read("cm", "one-after", "{.metadata.name}"), "one-after");
  await commands.must("kubectl", ["delete", "crd", "walkers.helm.example.com"], signal);
  await commands.must("kubectl", ["delete", "namespace", namespace, "--timeout=240s"], signal);
}
