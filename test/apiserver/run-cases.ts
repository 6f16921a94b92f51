// Running cases on a server, several at once, each in a namespace of its own.

import { createHash } from "node:crypto";

import { forEachAtOnce } from "@keelson/base";
import { loadBuiltinKinds, ProtobufCodec } from "@keelson/kube";

import { until } from "../tools/until.ts";
import type { Case } from "./case.ts";
import { Lab, type Observation } from "./lab.ts";
import type { Target } from "./target.ts";

const concurrencyDefault = 8;
const caseMs = 240_000;

/** What each case saw, by its name. A case that threw has that as its last step. */
export type Recording = ReadonlyMap<string, readonly Observation[]>;

const broke = "broke";

/** The cases that threw, and what. At the real server none may: it would throw at ours too, and nothing would differ. */
export function brokenIn(recording: Recording): readonly string[] {
  return [...recording].flatMap(([name, observations]) => {
    const last = observations.at(-1);
    return last?.step === broke ? [`${name}: ${JSON.stringify(last.answer)}`] : [];
  });
}

export async function runCases(
  target: Target,
  cases: readonly Case[],
  {
    signal,
    concurrency = concurrencyDefault,
  }: { readonly signal: AbortSignal; readonly concurrency?: number },
): Promise<Recording> {
  const codec = new ProtobufCodec(await loadBuiltinKinds());
  await createNamespaces(
    target,
    cases.map(({ name }) => namespaceOf(name)),
    signal,
  );
  const recording = new Map<string, readonly Observation[]>();
  const runOne = async (one: Case, within: AbortSignal): Promise<void> => {
    const id = idOf(one.name);
    const deadline = AbortSignal.any([within, AbortSignal.timeout(caseMs)]);
    const namespace = namespaceOf(one.name);
    using lab = new Lab({ target, namespace, id, codec, signal: deadline });
    try {
      await one.run(lab);
    } catch (error) {
      lab.note(broke, String(error));
    }
    recording.set(one.name, lab.observations);
  };
  await forEachAtOnce(cases, { atOnce: concurrency, run: runOne }, signal);
  return recording;
}

function idOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 8);
}

/** The same on every server, so that names in messages need no translation. */
function namespaceOf(name: string): string {
  return `case-${idOf(name)}`;
}

async function createNamespaces(
  { client }: Target,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (new Set(names).size !== names.length) throw new Error("two cases have one name");
  const create = async (name: string, within: AbortSignal): Promise<void> => {
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
    const { status, text } = await client.send(
      { method: "POST", path: "/api/v1/namespaces", body },
      within,
    );
    if (status !== 201) throw new Error(`cannot create namespace ${name}: ${status} ${text}`);
  };
  await forEachAtOnce(names, { atOnce: concurrencyDefault, run: create }, signal);
  // Pods are refused before their account is there.
  const wanted = new Set(names);
  await until(
    async () => {
      const { body } = await client.send({ path: "/api/v1/serviceaccounts" }, signal);
      const { items } = body as {
        items: readonly { metadata: { name: string; namespace: string } }[];
      };
      for (const { metadata } of items)
        if (metadata.name === "default") wanted.delete(metadata.namespace);
      return wanted.size === 0;
    },
    AbortSignal.any([signal, AbortSignal.timeout(240_000)]),
  );
}
