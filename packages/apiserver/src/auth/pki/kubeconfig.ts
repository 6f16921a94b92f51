// What kubectl needs to reach the server as its administrator.

import type { Random } from "@keelson/base";
import { stringify } from "yaml";

import type { KeyPair } from "./certificate.ts";
import { writeSecretFile } from "./secret-file.ts";

export interface Kubeconfig {
  /** Where the server is: `https://127.0.0.1:6443`. */
  readonly server: string;
  /** Who signed the server's certificate, PEM. */
  readonly authority: string;
  readonly client: KeyPair;
}

/** Writes a kubeconfig of the cluster `local`, with everything in it. Mode 0600. */
export async function writeKubeconfig(
  path: string,
  kubeconfig: Kubeconfig,
  random: Random,
): Promise<void> {
  await writeSecretFile(path, printKubeconfig(kubeconfig), random);
}

function printKubeconfig({ server, authority, client }: Kubeconfig): string {
  const name = "local";
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name, cluster: { server, "certificate-authority-data": base64(authority) } }],
      users: [
        {
          name: "local-admin",
          user: {
            "client-certificate-data": base64(client.certificate),
            "client-key-data": base64(client.key),
          },
        },
      ],
      contexts: [{ name, context: { cluster: name, user: "local-admin" } }],
      "current-context": name,
    },
    { lineWidth: 0 },
  );
}
