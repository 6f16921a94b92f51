// Whether the ports that a start would take are free, and who has them.

import { once } from "node:events";
import { createServer } from "node:net";
import type { Config } from "../../config.ts";
import { withoutPassword } from "../../config/show.ts";
import type { RunFile } from "../../run-file.ts";
import { failed, ok, type Finding } from "./finding.ts";
import { portHolder } from "./port-holder.ts";

export async function checkPorts(
  config: Config,
  running: RunFile | undefined,
): Promise<readonly Finding[]> {
  const { address, port, kubeAddress, kubePort, metricsAddress, metricsPort } = config;
  const { databaseUrl, databasePort } = config;
  const wanted = [
    { check: "port of the REST API", flag: "--port", address, port, ours: running?.rest },
    {
      check: "port of the Kubernetes API",
      flag: "--kube-port",
      address: kubeAddress,
      port: kubePort,
      ours: running?.kubernetes,
    },
    ...(config.metricsEnabled
      ? [
          {
            check: "port of metrics",
            flag: "--metrics-port",
            address: metricsAddress,
            port: metricsPort,
            ours: running?.metrics,
          },
        ]
      : []),
    ...(databaseUrl === undefined
      ? [
          {
            check: "port of PostgreSQL",
            flag: "--database-port",
            address: "127.0.0.1",
            port: databasePort,
            ours: running?.database && withoutPassword(running.database),
          },
        ]
      : []),
  ];
  return Promise.all(
    wanted.map(async ({ check, flag, address, port, ours }): Promise<Finding> => {
      if (ours !== undefined) return ok(check, `${ours}, of the Keelson that runs`);
      if (port === 0) return ok(check, "any free one");
      const place = `${address}:${port}`;
      const refusal = await refusalOf(address, port);
      if (refusal === undefined) return ok(check, `${place} is free`);
      const other = `choose another with ${flag}, 0 for any free one`;
      if (refusal !== "EADDRINUSE") {
        return failed(check, `${place} cannot be listened on (${refusal})`, other);
      }
      const holder = await portHolder(port);
      const whose = holder === undefined ? "" : ` by ${holder}`;
      return failed(check, `${place} is taken${whose}`, `stop what listens there, or ${other}`);
    }),
  );
}

/** Why one cannot listen there; undefined if one can. */
async function refusalOf(host: string, port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  }
}
