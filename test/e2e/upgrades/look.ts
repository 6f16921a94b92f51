// A `keelson up` that runs, as those see it who want to know what it holds.

import { readFile } from "node:fs/promises";
import type { RunFile } from "@keelson/keelson";
import { parse } from "yaml";
import { HttpClient } from "../../tools/http-client.ts";
import type { Ask } from "../ask-rest.ts";
import type { ResourceFact } from "./sample.ts";

/** Its Kubernetes API, as the administrator of its kubeconfig; dispose it. */
export async function kubernetesOf({ kubeconfig = "" }: RunFile): Promise<HttpClient> {
  const { clusters, users } = parse(await readFile(kubeconfig, "utf8")) as {
    clusters: [{ cluster: Record<string, string> }];
    users: [{ user: Record<string, string> }];
  };
  const [{ cluster }, { user }] = [clusters[0], users[0]];
  const text = (base64 = ""): string => Buffer.from(base64, "base64").toString();
  return new HttpClient({
    url: cluster["server"] ?? "",
    ca: text(cluster["certificate-authority-data"]),
    certificate: text(user["client-certificate-data"]),
    key: text(user["client-key-data"]),
  });
}

/** A resource with its history, if the cluster holds it as declared. */
export async function syncedResource(ask: Ask, id: number): Promise<ResourceFact | undefined> {
  const { body } = await ask("GET", `/resources/${id}`);
  if (body.status !== "synced") return undefined;
  const { revisions } = (await ask("GET", `/resources/${id}/revisions`)).body as {
    readonly revisions: readonly { readonly generation: number; readonly revision: number }[];
  };
  const { name, kind, generation, revision, desired_spec } = body as ResourceFact;
  const history = revisions.map((one) => [one.generation, one.revision] as const);
  return { id, name, kind, generation, revision, desired_spec, history };
}

/** The uid of the object at `path`. */
export async function uidAt(
  kubernetes: HttpClient,
  path: string,
  signal: AbortSignal,
): Promise<string> {
  const { body } = await kubernetes.send({ path }, signal);
  return (body as { metadata?: { uid?: string } }).metadata?.uid ?? "";
}
