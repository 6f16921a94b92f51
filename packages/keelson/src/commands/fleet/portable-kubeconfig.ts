// A kubeconfig that works elsewhere: one context, and what its files hold instead of their names.

import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import { closest } from "../../config/closest.ts";
import { CommandError, usageError } from "../command-error.ts";

/** The members that name a file, and those that hold its content in base64 instead. */
const files = {
  cluster: { "certificate-authority": "certificate-authority-data" },
  user: { "client-certificate": "client-certificate-data", "client-key": "client-key-data" },
} as const;

/**
 * The kubeconfig at `path` with the one context, the current one unless told, and its cluster and user. What is in it
 * besides, such as a command that fetches a token, is passed on: the server says what it does not take.
 */
export async function portableKubeconfig(
  path: string,
  { context: wanted, shown }: { readonly context: string | undefined; readonly shown: string },
): Promise<JsonObject> {
  const { readYaml, YamlError } = await import("@keelson/apiserver/yaml");
  let config: Json;
  try {
    config = readYaml(await readFile(path, "utf8")).value;
  } catch (error) {
    if (error instanceof YamlError) throw usageError(`${shown} is no kubeconfig: ${error.message}`);
    throw unreadable(shown, error);
  }
  if (!isJsonObject(config)) throw usageError(`${shown} is no kubeconfig`);
  const name = wanted ?? textOf(config["current-context"]);
  const contexts = entriesOf(config["contexts"]);
  const found = contexts.find((entry) => entry["name"] === name);
  if (name === undefined || found === undefined) throw noContext(shown, name, contexts);
  const { context } = found;
  const { cluster, user } = isJsonObject(context) ? context : {};
  const folder = dirname(path);
  return {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    contexts: [found],
    clusters: await inlined(config["clusters"], textOf(cluster), { member: "cluster", folder }),
    users: await inlined(config["users"], textOf(user), { member: "user", folder }),
  };
}

async function inlined(
  entries: Json | undefined,
  name: string | undefined,
  { member, folder }: { readonly member: "cluster" | "user"; readonly folder: string },
): Promise<readonly JsonObject[]> {
  const entry = entriesOf(entries).find((one) => one["name"] === name);
  const value = entry?.[member];
  if (entry === undefined || value === undefined || !isJsonObject(value)) return [];
  const whole: Record<string, Json> = { ...value };
  const read = async (key: string): Promise<Buffer | undefined> => {
    const file = textOf(whole[key]);
    if (file === undefined) return undefined;
    delete whole[key];
    return readFile(resolve(folder, file)).catch((error: unknown) => {
      throw unreadable(file, error);
    });
  };
  for (const [key, dataKey] of Object.entries(files[member])) {
    const content = await read(key);
    // As kubectl has it: what is there as data counts.
    if (content !== undefined) whole[dataKey] ??= content.toString("base64");
  }
  if (member === "user") {
    const token = await read("tokenFile");
    if (token !== undefined) whole["token"] = token.toString("utf8").trim();
  }
  return [{ ...entry, [member]: whole }];
}

function entriesOf(value: Json | undefined): readonly JsonObject[] {
  return value !== undefined && isJsonArray(value) ? value.filter(isJsonObject) : [];
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function noContext(
  shown: string,
  name: string | undefined,
  contexts: readonly JsonObject[],
): CommandError {
  const names = contexts.map((entry) => textOf(entry["name"]) ?? "");
  if (names.length === 0) return usageError(`${shown} is no kubeconfig: it has no contexts`);
  if (name === undefined) {
    return usageError(
      `${shown} has no current context: choose one of ${names.join(", ")} with --context`,
    );
  }
  const meant = closest(name, names);
  const hint = meant === undefined ? `it has ${names.join(", ")}` : `did you mean ${meant}?`;
  return usageError(`${shown} has no context ${name}: ${hint}`);
}

function unreadable(path: string, cause: unknown): CommandError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT") return usageError(`${path} does not exist`);
  return new CommandError(`${path} cannot be read (${code ?? String(cause)})`, { cause });
}
