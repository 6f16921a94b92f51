// The definitions of cert-manager's kinds, of the version that the chart is tried with, from the Go module proxy.

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { parse } from "yaml";

const module = "github.com/cert-manager/cert-manager@v1.19.1";
/** What the module must be, as a go.sum would say it. */
const sum = "h1:Txh8L/nLWTDcb7ZnXuXbTe15BxQnLbLirXmbNk0fGgY=";

/** CustomResourceDefinitions of Certificate and Issuer. The module is kept in Go's cache. */
export async function certManagerDefinitions(signal: AbortSignal): Promise<readonly object[]> {
  const words = ["mod", "download", "-json", module];
  const { stdout } = await promisify(execFile)("go", words, { cwd: tmpdir(), signal });
  const { Dir: folder, Sum: found } = JSON.parse(stdout) as { Dir: string; Sum: string };
  if (found !== sum) throw new Error(`${module} is ${found}, not ${sum}`);
  return ["certificates", "issuers"].map((plural) => {
    const file = join(folder, "deploy/crds", `cert-manager.io_${plural}.yaml`);
    return parse(readFileSync(file, "utf8")) as object;
  });
}
