// A bed in which commands are typed: the real API, a cluster of our own and a worker between them.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { typing, type Typed, type TypeOptions } from "../../services/typed.ts";
import { startBed, type Bed, type Worker } from "../bed.ts";

export interface CommandLab extends AsyncDisposable {
  readonly bed: Bed;
  /** The present worker; whoever stops it starts another. */
  worker: Worker;
  /** Where commands are typed, and where `file` writes. */
  readonly folder: string;
  readonly url: string;
  /** Aborts when the lab closes. */
  readonly signal: AbortSignal;
  keelson(words: string | readonly string[], options?: TypeOptions): Promise<Typed>;
  file(name: string, content: string): Promise<void>;
}

export async function openLab(): Promise<CommandLab> {
  await using setup = new AsyncDisposableStack();
  const ended = new AbortController();
  setup.defer(() => ended.abort());
  const folder = await mkdtemp(join(tmpdir(), "keelson-commands-"));
  setup.defer(() => rm(folder, { recursive: true }));
  const bed = setup.use(await startBed(ended.signal, { simulatesWorkloads: true }));
  const url = await bed.rest.listen();
  const kept = setup.move();
  return {
    bed,
    worker: bed.startWorker(),
    folder,
    url,
    signal: ended.signal,
    keelson: typing(url, folder),
    file: (name, content) => writeFile(join(folder, name), content),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

export const deployment = (replicas: number) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  creationTimestamp: null
  labels: { app: web }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: nginx }] }
status: {}
`;

export const settings = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  uid: 1234
  resourceVersion: "7"
data: { mode: "0644", a: "yes" }
`;
