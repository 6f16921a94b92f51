// Every kind through every verb: the defaults of KB §4 and each kind's own switches.

import { isJsonObject, readJson, writeJson, type Json, type JsonObject } from "@keelson/base";
import { loadBuiltinKinds, type BuiltinKind } from "@keelson/kube";
import { loadKindExamples } from "@keelson/kube/testing";

import { collectionPath } from "../../oracle/kinds/paths.ts";
import { casesOf, type Case, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";

/** Named by their content, or so bound to the cluster that a second one disturbs it. */
const named = new Set([
  "APIService",
  "CustomResourceDefinition",
  "IPAddress",
  "ServiceCIDR",
  "Namespace",
  "StorageVersion",
]);

/** What names must begin with, by what the examples say. */
const namePrefix: Readonly<Record<string, string>> = { ClusterTrustBundle: "example.com:minimal:" };

const otherUid = "00000000-0000-4000-8000-000000000000";

export async function kindCases(): Promise<readonly Case[]> {
  const kinds = await loadBuiltinKinds();
  const examples = await loadKindExamples();
  const scripts: Record<string, Script> = {};
  for (const kind of kinds.all) {
    const example = examples[`${kind.group}/${kind.version}/${kind.kind}`]?.sent;
    if (example === undefined || named.has(kind.kind)) continue;
    const title = `${kind.kind} of ${kind.group || "core"}/${kind.version}`;
    const at = (lab: Lab): Place => placeOf(lab, kind, example);
    scripts[`${title} is created, read, listed and deleted`] = async (lab) =>
      await life(lab, at(lab));
    scripts[`${title} is updated and patched`] = async (lab) => await updates(lab, at(lab));
    scripts[`${title} is put where nothing is`] = async (lab) => await putCreate(lab, at(lab));
    scripts[`${title} is applied`] = async (lab) => await applies(lab, at(lab));
    scripts[`${title} in other shapes`] = async (lab) => await shapes(lab, at(lab));
    scripts[`${title} with options`] = async (lab) => await options(lab, at(lab));
    scripts[`${title} with bad metadata`] = async (lab) => await badMetadata(lab, at(lab));
    if (kind.subresources.some(({ name }) => name === "status")) {
      scripts[`${title} at its status`] = async (lab) => await status(lab, at(lab));
    }
  }
  return casesOf("kinds", scripts);
}

interface Place {
  readonly collection: string;
  readonly path: string;
  readonly name: string;
  readonly object: JsonObject;
  readonly selector: string;
}

function placeOf(lab: Lab, kind: BuiltinKind, example: JsonObject): Place {
  const collection = collectionPath(kind, kind.isNamespaced ? lab.ns : undefined);
  const name = `${namePrefix[kind.kind] ?? ""}x-${lab.id}`;
  const metadata: JsonObject = {
    name,
    ...(kind.isNamespaced ? { namespace: lab.ns } : {}),
    labels: { case: lab.id },
  };
  const selector = `labelSelector=case%3D${lab.id}`;
  const here = writeJson(example).replaceAll('"namespace":"minimal"', `"namespace":"${lab.ns}"`);
  const object = { ...(readJson(here) as JsonObject), metadata };
  return { collection, path: `${collection}/${name}`, name, object, selector };
}

/** The object with other metadata; null takes a member away. */
function changed(object: JsonObject, metadata: Record<string, Json | undefined>): JsonObject {
  const old = isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const merged = Object.entries({ ...old, ...metadata }).filter(([, value]) => value !== undefined);
  return { ...object, metadata: Object.fromEntries(merged) as JsonObject };
}

async function life(lab: Lab, { collection, path, object, selector }: Place): Promise<void> {
  await lab.post(collection, object);
  await lab.post(collection, object);
  await lab.get(path);
  await lab.get(`${collection}?${selector}`);
  await lab.delete(path);
  // Some kinds orphan their dependents unless told otherwise, which takes a moment.
  await lab.until(path, ({ text }) => !text.includes('"orphan"'));
  await lab.delete(path);
}

async function updates(lab: Lab, { collection, path, name, object }: Place): Promise<void> {
  const { version } = await lab.post(collection, object);
  await lab.put(path, changed(object, { annotations: { put: "1" } }));
  await lab.put(path, changed(object, { annotations: { put: "2" }, resourceVersion: version }));
  const { body } = await lab.get(path);
  await lab.put(path, body);
  await lab.put(path, changed(object, { annotations: { put: "3" }, uid: otherUid }));
  await lab.put(path, changed(object, { name: `${name}-other` }));
  await lab.patch("merge", path, { metadata: { annotations: { merge: "1" } } });
  await lab.patch("merge", path, { metadata: { annotations: { merge: "1" } } });
  await lab.patch("json", path, [{ op: "add", path: "/metadata/labels/json", value: "1" }]);
  await lab.patch("strategic", path, { metadata: { labels: { json: null, strategic: "1" } } });
  await lab.delete(path);
}

async function putCreate(lab: Lab, { path, object }: Place): Promise<void> {
  await lab.put(path, object);
  await lab.patch("merge", path, { metadata: { labels: { a: "b" } } });
  await lab.patch("strategic", path, { metadata: { labels: { a: "b" } } });
  await lab.delete(path, {
    kind: "DeleteOptions",
    apiVersion: "v1",
    propagationPolicy: "Background",
  });
}

async function applies(lab: Lab, { path, object }: Place): Promise<void> {
  await lab.patch("apply", `${path}?fieldManager=one`, object);
  await lab.patch("apply", `${path}?fieldManager=one`, object);
  await lab.patch(
    "apply",
    `${path}?fieldManager=two`,
    changed(object, { labels: { case: "other" } }),
  );
  await lab.patch(
    "apply",
    `${path}?fieldManager=two&force=true`,
    changed(object, { labels: { case: "other" } }),
  );
  await lab.patch("apply", `${path}?fieldManager=one`, changed(object, { labels: undefined }));
  await lab.delete(`${path}?propagationPolicy=Background`);
}

async function shapes(
  lab: Lab,
  { collection, path, name, object, selector }: Place,
): Promise<void> {
  await lab.create(collection, object);
  const accept = (type: string): { readonly headers: Record<string, string> } => ({
    headers: { accept: type },
  });
  await lab.get(path, accept("application/json;as=Table;v=v1;g=meta.k8s.io"));
  await lab.get(
    `${collection}?${selector}`,
    accept("application/json;as=Table;v=v1;g=meta.k8s.io"),
  );
  await lab.get(
    `${collection}?${selector}&includeObject=None`,
    accept("application/json;as=Table;v=v1;g=meta.k8s.io"),
  );
  await lab.get(path, accept("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"));
  await lab.get(
    `${collection}?${selector}`,
    accept("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"),
  );
  await lab.get(path, accept("application/yaml"));
  await lab.get(path, accept("application/vnd.kubernetes.protobuf"));
  await lab.get(`${collection}?${selector}`, accept("application/vnd.kubernetes.protobuf"));
  const protobuf = Buffer.from(lab.codec.encode(changed(object, { name: `${name}-y` })));
  await lab.post(collection, protobuf, {
    headers: { "content-type": "application/vnd.kubernetes.protobuf" },
  });
  await lab.delete(`${collection}?${selector}`);
}

async function options(
  lab: Lab,
  { collection, path, name, object, selector }: Place,
): Promise<void> {
  await lab.post(`${collection}?dryRun=All`, object);
  await lab.get(path);
  await lab.post(`${collection}?fieldValidation=Strict`, { ...object, unknownField: 1 });
  await lab.post(`${collection}?fieldManager=me`, { ...object, unknownField: 1 });
  // By this word it is seen that what follows is generated.
  const generateName = `${name.replace(/x-/, "gen-")}-`;
  await lab.post(collection, changed(object, { name: undefined, generateName }));
  await lab.post(collection, changed(object, { name: "Not A Name" }));
  await lab.post(collection, changed(object, { name: undefined }));
  await lab.put(`${path}?dryRun=All`, changed(object, { labels: { case: lab.id, dry: "run" } }));
  await lab.get(`${collection}?fieldSelector=metadata.name%3D${encodeURIComponent(name)}`);
  await lab.get(`${collection}?fieldSelector=spec.nothing%3Dx`);
  await lab.delete(`${path}?dryRun=All`);
  await lab.delete(`${collection}?${selector}`, {
    apiVersion: "v1",
    kind: "DeleteOptions",
    propagationPolicy: "Background",
  });
  await lab.get(`${collection}?${selector}`);
}

async function badMetadata(lab: Lab, { collection, path, name, object }: Place): Promise<void> {
  const bad: readonly JsonObject[] = [
    { labels: { a: "Not Valid!" } },
    { annotations: { "Not Valid!": "a" } },
    { finalizers: ["Not Valid!"] },
    { ownerReferences: [{ apiVersion: "v1", kind: "", name: "", uid: "" }] },
  ];
  await lab.create(collection, object);
  for (const metadata of bad) {
    await lab.post(collection, changed(object, { ...metadata, name: `${name}-y` }));
    await lab.patch("merge", path, { metadata });
  }
  await lab.delete(path);
}

async function status(lab: Lab, { collection, path, object }: Place): Promise<void> {
  await lab.create(collection, object);
  const { body } = await lab.get(`${path}/status`);
  const base = isJsonObject(body) ? body : {};
  await lab.put(
    `${path}/status`,
    changed(base, { labels: { case: lab.id, fromStatus: "1" }, annotations: { a: "1" } }),
  );
  await lab.patch("merge", `${path}/status`, {
    metadata: { annotations: { b: "1" } },
    spec: { unknownField: 1 },
  });
  await lab.patch("strategic", `${path}/status`, { metadata: { labels: { c: "1" } } });
  await lab.patch("merge", `${path}/status`, { metadata: { labels: { a: "Not Valid!" } } });
  await lab.get(path);
  await lab.delete(path);
}
