// Secrets Manager of AWS as moto has it.

import { SecretsManager } from "@aws-sdk/client-secrets-manager";
import { Guard, ProcessEnded } from "../tools/guarded.ts";
import { findFreePorts } from "../tools/ports.ts";
import { until } from "../tools/until.ts";
import { findMoto } from "./moto-program.ts";

const found = findMoto();

/** Why tests with it are skipped; false where they run. */
export const withoutSecretsManager: string | false = "missing" in found ? found.missing : false;

/** As the SDK finds them in the environment. The server believes whatever it is told. */
const keys = { AWS_ACCESS_KEY_ID: "operator", AWS_SECRET_ACCESS_KEY: "secret" };
const region = "eu-central-1";

export interface SecretsServer extends AsyncDisposable {
  /** What a process must be told to find it, and who it is there. */
  readonly environment: Readonly<Record<string, string>>;
  /** Gives the ARN. */
  create(name: string, value: object): Promise<string>;
  change(arn: string, value: object): Promise<void>;
}

export async function startSecretsServer(signal: AbortSignal): Promise<SecretsServer> {
  if ("missing" in found) throw new Error(found.missing);
  await using undo = new AsyncDisposableStack();
  const guard = undo.use(new Guard());
  const [port = 0] = await findFreePorts(1);
  const endpoint = `http://127.0.0.1:${port}`;
  const program = ["python3", "-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)];
  const server = await guard.start({
    name: "moto",
    path: "/usr/bin/env",
    arguments: [`PYTHONPATH=${found.packages}`, "PYTHONDONTWRITEBYTECODE=1", ...program],
  });
  await until(async () => {
    if (server.hasEnded) throw new ProcessEnded("moto", "at its start", server.logTail());
    return await fetch(`${endpoint}/moto-api/`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  }, signal);
  const credentials = {
    accessKeyId: keys.AWS_ACCESS_KEY_ID,
    secretAccessKey: keys.AWS_SECRET_ACCESS_KEY,
  };
  const manager = new SecretsManager({ region, endpoint, credentials });
  undo.defer(() => manager.destroy());
  const kept = undo.move();
  return {
    environment: { ...keys, AWS_REGION: region, AWS_ENDPOINT_URL: endpoint },
    create: async (name, value) => {
      const { ARN = "" } = await manager.createSecret({
        Name: name,
        SecretString: JSON.stringify(value),
      });
      return ARN;
    },
    change: async (arn, value) => {
      await manager.putSecretValue({ SecretId: arn, SecretString: JSON.stringify(value) });
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
