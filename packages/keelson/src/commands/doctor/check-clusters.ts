// The kubeconfigs that settings name, and the server that runs here.

import type { Clock } from "@keelson/base";
import { BadKubeconfig, loadKubeconfig } from "@keelson/client";
import type { Config } from "../../config.ts";
import type { RunFile, RunFileUnreadable } from "../../run-file.ts";
import { whyUnreachable } from "../client/rest-client.ts";
import { failed, ok, warning, type Finding } from "./finding.ts";

/** One finding for each target of the configuration file. */
export async function checkTargets(
  { targets, proxies, configFile }: Config,
  clock: Clock,
): Promise<readonly Finding[]> {
  return Promise.all(
    targets.map(async ({ clusterId, kubeconfig, context }): Promise<Finding> => {
      const check = `kubeconfig of target ${clusterId}`;
      const isFile = "file" in kubeconfig;
      const place = isFile ? kubeconfig.file : `targets of ${configFile ?? ""}`;
      try {
        const source = isFile ? { files: [kubeconfig.file] } : { text: kubeconfig.text };
        const options = { clock, proxies, ...(context === undefined ? {} : { context }) };
        const { server } = await loadKubeconfig(source, options);
        return ok(check, `${place} leads to ${server}`);
      } catch (error) {
        if (!(error instanceof BadKubeconfig)) throw error;
        return failed(check, error.message, `mend ${place}`);
      }
    }),
  );
}

/** Nobody can tell whether one runs. */
export function unknownServer({ message }: RunFileUnreadable): Finding {
  return warning("server", message, "ask as the user who runs the server");
}

const answerMsMax = 5_000;

/** What the server that runs says of itself. */
export async function checkServer(
  running: RunFile | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<Finding> {
  const check = "server";
  if (running === undefined) return ok(check, 'none runs here: "keelson up" starts one');
  if (running.rest === undefined) return ok(check, `process ${running.pid}, without a REST API`);
  try {
    const inTime = AbortSignal.any([signal, clock.timeout(answerMsMax)]);
    const answer = await fetch(`${running.rest}/readyz?verbose`, { signal: inTime });
    const said = await answer.text();
    if (answer.ok) return ok(check, `${running.rest} is ready`);
    const first =
      said.split("\n").find((line) => line.startsWith("[-]")) ?? `it says ${answer.status}`;
    return failed(check, `${running.rest} is not ready: ${first}`, "its log says more");
  } catch (error) {
    signal.throwIfAborted();
    const { reason, next } = whyUnreachable(running.rest, error, { hasAnswered: true });
    const fix = next ?? "its log says more";
    return warning(check, `${running.rest} does not answer (${reason})`, fix);
  }
}
