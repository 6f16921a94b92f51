// `keelson cluster …` before a `keelson up` that runs: a cluster from its declaration to its end, as a person sees it.

import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { until } from "../oracle/until.ts";
import { typingAt, type TypingOptions } from "./typed-process.ts";

export interface ClusterWalkOptions extends TypingOptions {
  /** Reports as the controller `dns` that all is well, on a cluster at a generation. */
  readonly report: (id: string, generation: number) => Promise<void>;
}

/** Several at once where they do not wait for each other: each is a process that has to start. */
export async function walkClusterCommands(
  { report, ...at }: ClusterWalkOptions,
  signal: AbortSignal,
): Promise<void> {
  const keelson = typingAt(at, signal);
  const typed = async (line: string, expected: { code?: number; out?: string; said?: string }) =>
    assert.deepEqual(await keelson(line), { code: 0, out: "", said: "", ...expected }, line);

  await writeFile(join(at.folder, "spec.yaml"), "platform: { type: gcp }\nreplicas: 3\n");
  await Promise.all([
    typed("cluster create walk --platform gcp --as alice@example.com", { out: "walk created\n" }),
    typed("cluster create walk", {
      code: 2,
      said: "keelson: say which platform with --platform, as --platform gcp, or as platform.type of --spec\n",
    }),
    typed("cluster get nowhere", {
      code: 1,
      said: 'keelson: there is no cluster nowhere: "keelson cluster list" shows them\n',
    }),
  ]);

  let followed = "";
  const following = keelson("cluster events walk --watch -o json", {
    onOutput: (out) => {
      followed = out;
      return false;
    },
  });
  const interrupted = keelson("cluster events walk -w", { onOutput: () => true });
  const [table, json, yaml, name] = await Promise.all(
    ["", " -o json", " -o yaml", " -o name"].map((format) => keelson(`cluster get walk${format}`)),
  );
  assert.match(
    table?.out ?? "",
    /^NAME {3}PLATFORM {3}PHASE {5}READY {3}GENERATION {3}AGE\nwalk {3}gcp {8}Pending {3}False {3}1 {12}\d+s\n$/,
  );
  const shown = JSON.parse(json?.out ?? "") as { readonly id: string; readonly spec: object };
  assert.deepEqual(shown.spec, { platform: { type: "gcp" } });
  assert.match(yaml?.out ?? "", new RegExp(`^id: ${shown.id}$`, "m"));
  assert.equal(name?.out, "walk\n");
  const { code, out } = await interrupted;
  assert.equal(code, 130);
  assert.match(out, /^TIME +TYPE +GENERATION +REASON +BY +MORE\n\S+ +cluster.created +1 +/);

  const updated = keelson("cluster update walk --spec spec.yaml --wait --timeout 2m");
  await until(() => followed.includes('"cluster.updated"'), signal);
  await report(shown.id, 2);
  assert.deepEqual(await updated, {
    code: 0,
    out: "walk updated (generation 2)\nwalk Ready\n",
    said: "",
  });
  const [status] = await Promise.all([
    keelson("cluster status walk"),
    typed("cluster reconcile walk", { out: "walk asked to reconcile\n" }),
    typed("cluster delete walk", {
      code: 1,
      said: "keelson: walk is Ready: delete it with --confirm Ready, or with --force, which waits for no controller\n",
    }),
  ]);
  assert.match(status.out, /^walk, generation 2: Ready, .*\n(.*\n)*dns +2 +True +\d+s/);
  await typed("cluster delete walk --confirm Ready --wait --timeout 2m", {
    out: "walk deleting\nwalk gone\n",
  });

  // The watch ends with what it watched.
  const ended = await following;
  assert.deepEqual([ended.code, ended.said], [0, ""]);
  const types = ended.out
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly type: string }).type);
  assert.deepEqual(
    types.filter((type) => !["cluster.reconcile", "status.changed"].includes(type)),
    ["cluster.created", "cluster.updated", "cluster.deleted", "cluster.finalized"],
  );
}
