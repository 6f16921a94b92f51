// A controller that does nothing, on a real API server: how long it takes to look at everything, how late it is to
// look at a change, what its cache costs. Beside it the informer of client-node and a manager of controller-runtime.

import { spawn, type ChildProcessByStdio } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { systemClock } from "@keelson/base";
import { Client, loadKubeconfig, openWatch, type Resource } from "@keelson/client";

import { buildOracle } from "../../test/oracle/build.ts";
import { startOracle, type Oracle } from "../../test/oracle/cluster.ts";
import { fillBelow } from "../../test/oracle/fill-below.ts";
import { managerModule, modules, programPath } from "../../test/oracle/programs.ts";
import { Latencies } from "../measure.ts";
import { judged, type Row } from "../report.ts";
import { numberOf, type Run } from "../suite.ts";
import { pod } from "./pods.ts";
import { sentAnnotation, wallMs, type Said } from "./programs/talk.ts";

const contestants = ["keelson", "client-node", "controller-runtime"] as const;
type Contestant = (typeof contestants)[number];

interface Found {
  readonly startedMs: number;
  readonly againMs: number;
  readonly heapBytes: number;
  /** From the sending of a change to the look at it; from its arrival at a bare watch to the look at it. */
  readonly afterSend: Latencies;
  readonly afterEvent: Latencies;
}

export async function bench(run: Run): Promise<readonly Row[]> {
  const objects = numberOf(run, "objects", run.isQuick ? 5_000 : 50_000);
  const changes = numberOf(run, "changes", run.isQuick ? 100 : 1_000);
  run.say("building the manager of controller-runtime, if it is not there");
  await buildOracle(run.signal, [...modules, managerModule]);
  await using oracle = await startOracle({}, run.signal);
  run.say(`putting ${objects} Pods into etcd`);
  await fillBelow(oracle, { resource: "pods", count: objects, object: pod }, run.signal);
  const access = await loadKubeconfig({ files: [oracle.kubeconfig] }, { clock: systemClock });
  await using client = new Client({ access });
  const { resource } = await client.resource({ apiVersion: "v1", kind: "Pod" }, run.signal);
  const jsonBytes = await sizeOf(client, resource, run.signal);
  const found = {} as Record<Contestant, Found>;
  for (const contestant of contestants) {
    run.say(contestant);
    found[contestant] = await measure(
      { contestant, oracle, client, resource, objects, changes },
      run,
    );
  }
  return rowsOf(found, { objects, jsonBytes });
}

/** The mean size of an object as the server sends it. */
async function sizeOf(client: Client, resource: Resource, signal: AbortSignal): Promise<number> {
  const path = `/api/v1/${resource.resource}?limit=500`;
  const { body, text } = await client.call({ method: "GET", path }, signal);
  return Buffer.byteLength(text) / (body as { items: unknown[] }).items.length;
}

interface Parts {
  readonly contestant: Contestant;
  readonly oracle: Oracle;
  readonly client: Client;
  readonly resource: Resource;
  readonly objects: number;
  readonly changes: number;
}

async function measure(parts: Parts, run: Run): Promise<Found> {
  const { client, resource, objects, changes } = parts;
  await using program = new Program(parts);
  const started = await program.next("started", run.signal);
  let again = await program.again(run.signal);
  // The first time a compiler is still at work; of three the best counts, for each of them.
  for (let i = 0; i < 2; i++) {
    const next = await program.again(run.signal);
    if (next.ms < again.ms) again = next;
  }
  const arrivals = new Map<string, number>();
  const stop = new AbortController();
  const watching = watchBare({ client, resource, arrivals }, stop.signal);
  await watching.opened;
  const afterSend = new Latencies();
  const afterEvent = new Latencies();
  const pods = await client.resource(resource, run.signal);
  for (let i = 0; i < changes; i++) {
    const { name = "", namespace = "" } = pod((i * 7919) % objects).metadata;
    const sent = `${wallMs()}`;
    const body = { metadata: { annotations: { [sentAnnotation]: sent } } };
    await pods.patch({ name, namespace }, { type: "merge", body }, run.signal);
    let late = await program.next("late", run.signal);
    while (late.sent !== sent) late = await program.next("late", run.signal);
    afterSend.add(late.at - Number(sent));
    while (!arrivals.has(sent)) await wait(1);
    afterEvent.add(late.at - (arrivals.get(sent) ?? Number.NaN));
    await wait(2);
  }
  stop.abort(new Error("measured"));
  await watching.over;
  const { ms: againMs, heapBytes } = again;
  return { startedMs: started.ms, againMs, heapBytes, afterSend, afterEvent };
}

/** A watch and nothing else: when each change arrives at this machine's fastest. */
function watchBare(
  {
    client,
    resource,
    arrivals,
  }: Pick<Parts, "client" | "resource"> & { arrivals: Map<string, number> },
  signal: AbortSignal,
): { readonly opened: Promise<unknown>; readonly over: Promise<void> } {
  const opened = (async () => {
    const pods = await client.resource(resource, signal);
    const page = await pods.pages({ limit: 1 }, signal).next();
    const resourceVersion = page.value?.resourceVersion ?? "";
    return await openWatch(client, { resource, resourceVersion, openTimeoutMs: 10_000 }, signal);
  })();
  const over = (async () => {
    try {
      for await (const event of await opened) {
        if (event.type === "BOOKMARK") continue;
        const sent = event.object.metadata.annotations?.[sentAnnotation];
        if (sent !== undefined && !arrivals.has(sent)) arrivals.set(sent, wallMs());
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  })();
  return { opened, over };
}

/** A contestant as a process of its own. */
class Program implements AsyncDisposable {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #said: Said[] = [];
  #wake = Promise.withResolvers<void>();
  #ended: Error | undefined;

  constructor({ contestant, oracle, objects }: Pick<Parts, "contestant" | "oracle" | "objects">) {
    const [command, ...rest] = commandOf(contestant, oracle.kubeconfig, objects);
    this.#process = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"] });
    this.#process.once("exit", (code) => {
      this.#ended = new Error(`${contestant} has ended with ${code}`);
      this.#wake.resolve();
    });
    createInterface(this.#process.stdout).on("line", (line) => {
      this.#said.push(JSON.parse(line) as Said);
      this.#wake.resolve();
    });
  }

  /** The next thing it says of a type. */
  async next<T extends Said["type"]>(type: T, signal: AbortSignal): Promise<Said & { type: T }> {
    for (;;) {
      const said = this.#said.shift();
      if (said?.type === type) return said as Said & { type: T };
      if (said !== undefined) continue;
      signal.throwIfAborted();
      if (this.#ended !== undefined) throw this.#ended;
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }

  async again(signal: AbortSignal): Promise<Said & { type: "again" }> {
    this.#process.stdin.write("\n");
    return await this.next("again", signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended !== undefined) return;
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
  }
}

function commandOf(
  contestant: Contestant,
  kubeconfig: string,
  objects: number,
): [string, ...string[]] {
  if (contestant === "controller-runtime") {
    return [programPath("idle-manager"), `--cluster=${kubeconfig}`, `--objects=${objects}`];
  }
  const program = fileURLToPath(new URL(`./programs/${contestant}.ts`, import.meta.url));
  return [process.execPath, "--expose-gc", program, kubeconfig, String(objects)];
}

function rowsOf(
  found: Readonly<Record<Contestant, Found>>,
  { objects, jsonBytes }: { readonly objects: number; readonly jsonBytes: number },
): readonly Row[] {
  const count = objects.toLocaleString("en-US");
  return contestants.flatMap((contestant) => {
    const { startedMs, againMs, heapBytes, afterSend, afterEvent } = found[contestant];
    const isOurs = contestant === "keelson";
    const goal = <B>(bound: B): B | undefined => (isOurs ? bound : undefined);
    const row = (name: string, value: number, unit: string) => ({
      name: `${contestant}: ${name}`,
      value,
      unit,
    });
    return [
      judged(
        row(`${count} cached objects looked at`, againMs, "ms"),
        goal({ atMost: 1_000 * (objects / 50_000) }),
      ),
      judged(row("event to look, p50", afterEvent.percentile(0.5), "ms")),
      judged(row("event to look, p99", afterEvent.percentile(0.99), "ms"), goal({ atMost: 5 })),
      judged(row("write sent to look, p50", afterSend.percentile(0.5), "ms")),
      judged(row("write sent to look, p99", afterSend.percentile(0.99), "ms")),
      judged(
        { ...row("heap for each object", heapBytes / objects, "B"), baseline: jsonBytes },
        goal({ ratioAtMost: 2.5 }),
      ),
      judged(row(`start until ${count} were looked at`, startedMs, "ms")),
    ];
  });
}
