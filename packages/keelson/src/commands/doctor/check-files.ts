// The files that settings name and a start reads.

import { access, constants, stat } from "node:fs/promises";
import type { Config } from "../../config.ts";
import { kubeconfigOf } from "../../kubeconfig-path.ts";
import { failed, ok, type Finding } from "./finding.ts";

const read = [
  "tlsCertFile",
  "tlsKeyFile",
  "tokensFile",
  "authGatewayClientCa",
  "clientCaFile",
  "tokenAuthFile",
  "postgresPasswordFile",
  "dbAdminUrlFile",
] as const satisfies readonly (keyof Config)[];

/** One finding for each that is named. What is in them is judged by the start. */
export async function checkFiles(config: Config): Promise<readonly Finding[]> {
  const named = read.flatMap((key) => {
    const path = config[key];
    return path === undefined ? [] : [{ path, setting: config.sources[key].name }];
  });
  return Promise.all(
    named.map(async ({ path, setting }): Promise<Finding> => {
      const check = `file of ${setting}`;
      const refusal = await refusalOf(path);
      if (refusal === undefined) return ok(check, path);
      const fix = "see that it is there and that this user may read it, or name another";
      return failed(check, `${path} ${refusal}`, fix);
    }),
  );
}

/** The kubeconfig that an earlier start has left, and the next one reads before it replaces it; nothing where there is none. */
export async function checkKubeconfig(config: Config): Promise<readonly Finding[]> {
  const check = "kubeconfig";
  const path = kubeconfigOf(config);
  const refusal = await refusalOf(path);
  if (refusal === undefined) return [ok(check, path)];
  if (/\((ENOENT|ENOTDIR)\)$/.test(refusal)) return [];
  const fix = "let this user read it, or name another path with --kubeconfig";
  return [failed(check, `${path} ${refusal}`, fix)];
}

/** Why it cannot be read; undefined if it can. */
async function refusalOf(path: string): Promise<string | undefined> {
  try {
    await access(path, constants.R_OK);
    return (await stat(path)).isDirectory() ? "is a folder" : undefined;
  } catch (error) {
    return `cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`;
  }
}
