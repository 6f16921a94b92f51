// `keelson cluster create` and `update`: what a cluster is to be.

import { isJsonObject, type JsonObject } from "@keelson/base";
import { Refused } from "../client/rest-client.ts";
import { CommandError, usageError } from "../command-error.ts";
import { valueText, type Output } from "../output/formats.ts";
import type { Session } from "../session.ts";
import { findOne, listAll } from "./find.ts";
import { readSpec } from "./read-spec.ts";
import { addressOf, platformOf, type Declared, type Kind } from "./shapes.ts";
import { waitFor } from "./wait.ts";

interface Asked {
  readonly kind: Kind;
  /** A file, or `-`. */
  readonly specFile: string | undefined;
  readonly platform: string | undefined;
  readonly project: string | undefined;
  readonly clusterId: string | undefined;
  readonly output: Output;
  /** Undefined: does not wait. */
  readonly waitMs: number | undefined;
}

export async function create(
  session: Session,
  name: string,
  asked: Asked,
  signal: AbortSignal,
): Promise<void> {
  const { client } = session;
  const { kind, clusterId } = asked;
  const spec = await wantedSpec(session, asked, signal);
  if (kind.noun === "cluster" && platformOf(spec) === undefined) {
    throw usageError(
      "say which platform with --platform, as --platform gcp, or as platform.type of --spec",
    );
  }
  const body = { name, spec, ...(clusterId === undefined ? {} : { cluster_id: clusterId }) };
  const made = await client
    .post(`/${kind.plural}`, { ...body, ...projectOf(asked) }, signal)
    .catch(async (error: unknown) => {
      if (!(error instanceof Refused) || !error.code.endsWith("_NAME_EXISTS")) throw error;
      const namesakes = await listAll(client, kind, { name, clusterId }, signal);
      const others = namesakes.filter((one) => one.name === name);
      const isGoing =
        others.length > 0 && others.every(({ status }) => status.phase === "Deleting");
      const next = isGoing
        ? "it is being deleted, and its name is free once it is gone"
        : `"keelson ${kind.noun} update ${name} --spec FILE" changes it`;
      throw new CommandError(`${error.message}: ${next}`, { cause: error });
    });
  await tell(session, made, { ...asked, done: "created" }, signal);
}

export async function update(
  session: Session,
  word: string,
  asked: Asked & { readonly ifGeneration: number | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { client } = session;
  const { kind, clusterId, ifGeneration } = asked;
  const spec = await wantedSpec(session, asked, signal);
  const before = await findOne(client, { kind, word, clusterId }, signal);
  const expected = ifGeneration === undefined ? {} : { generation: ifGeneration };
  const after = await client
    .put(addressOf(kind, before), { spec, ...expected, ...projectOf(asked) }, signal)
    .catch((error: unknown) => {
      if (!(error instanceof Refused) || error.code !== "GENERATION_CONFLICT") throw error;
      const next = `see what it is now with "keelson ${kind.noun} get ${word} -o yaml"`;
      throw new CommandError(`${error.message}: ${next}`, { cause: error });
    });
  const generation = Number(after["generation"]);
  const done =
    generation === before.generation ? "unchanged" : `updated (generation ${generation})`;
  await tell(session, after, { ...asked, done }, signal);
}

/** The spec of the file, with the platform that was said. Throws where they disagree. */
async function wantedSpec(
  session: Session,
  { specFile, platform }: Pick<Asked, "specFile" | "platform">,
  signal: AbortSignal,
): Promise<JsonObject> {
  const spec = specFile === undefined ? {} : await readSpec(session, specFile, signal);
  if (platform === undefined) return spec;
  const said = platformOf(spec);
  if (said !== undefined && said.toLowerCase() !== platform.toLowerCase()) {
    throw usageError(`${specFile} is for platform ${said}, and --platform says ${platform}`);
  }
  if (said !== undefined) return spec;
  const { platform: more } = spec;
  const others = more !== undefined && isJsonObject(more) ? more : {};
  return { ...spec, platform: { ...others, type: platform } };
}

async function tell(
  session: Session,
  answer: JsonObject,
  {
    kind,
    output,
    done,
    waitMs,
  }: Pick<Asked, "kind" | "output" | "waitMs"> & { readonly done: string },
  signal: AbortSignal,
): Promise<void> {
  const { terminal } = session;
  const declared = answer as unknown as Declared;
  if (output === "json" || output === "yaml") {
    terminal.write(await valueText(answer, output));
  } else {
    terminal.write(output === "name" ? `${declared.name}\n` : `${declared.name} ${done}\n`);
  }
  if (waitMs === undefined) return;
  await waitFor(session, [declared], { kind, goal: "Ready", timeoutMs: waitMs }, signal);
}

function projectOf({ project }: Pick<Asked, "project">): JsonObject {
  return project === undefined ? {} : { target_project_id: project };
}
