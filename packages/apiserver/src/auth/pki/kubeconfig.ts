// What kubectl needs to reach the server as its administrator.

import type { Random } from "@keelson/base";
import { parse, stringify } from "yaml";

import type { KeyPair } from "./certificate.ts";
import { errorCode, readIfThere, writeSecretFile } from "./secret-file.ts";

/** The kubeconfig cannot go where it should. `foreign`: something is there that we have not written, and do not replace. */
export class KubeconfigFileError extends Error {
  override readonly name = "KubeconfigFileError";
  readonly code = "KUBECONFIG_FILE";
  readonly reason: "foreign" | "unusable";

  constructor(reason: KubeconfigFileError["reason"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface Kubeconfig {
  /** Where the server is: `https://127.0.0.1:6443`. */
  readonly server: string;
  /** Who signed the server's certificate, PEM. */
  readonly authority: string;
  /** What the server's certificate is for, where that is not its address. */
  readonly serverName?: string | undefined;
  readonly client: KeyPair;
}

const name = "local";
const user = "local-admin";

/**
 * Writes a kubeconfig of the cluster `local`, with everything in it. Mode 0600. One of ours is replaced; throws a
 * `KubeconfigFileError` where there is another.
 */
export async function writeKubeconfig(
  path: string,
  kubeconfig: Kubeconfig,
  random: Random,
): Promise<void> {
  await refuseForeignKubeconfig(path);
  try {
    await writeSecretFile(path, printKubeconfig(kubeconfig), random);
  } catch (cause) {
    throw new KubeconfigFileError("unusable", `${path} cannot be written (${errorCode(cause)})`, {
      cause,
    });
  }
}

/**
 * Throws a `KubeconfigFileError` if a file is there that we have not written, or that has got something besides: the credentials in
 * it may be the only ones that somebody has.
 */
export async function refuseForeignKubeconfig(path: string): Promise<void> {
  let text: string | undefined;
  try {
    text = await readIfThere(path);
  } catch (cause) {
    throw new KubeconfigFileError("unusable", `${path} cannot be read (${errorCode(cause)})`, {
      cause,
    });
  }
  if (text === undefined || text.trim() === "") return;
  const names = namesIn(text);
  if (names === undefined) {
    throw new KubeconfigFileError("foreign", `${path} is there, and is no kubeconfig`);
  }
  const others = [
    ...names.clusters.filter((one) => one !== name).map((one) => `the cluster ${one}`),
    ...names.users.filter((one) => one !== user).map((one) => `the user ${one}`),
  ];
  if (others.length === 0) return;
  const rest = others.length > 2 ? ` and ${others.length - 2} more` : "";
  throw new KubeconfigFileError(
    "foreign",
    `${path} is a kubeconfig of somebody else: it names ${others.slice(0, 2).join(", ")}${rest}`,
  );
}

/** The clusters and users of a kubeconfig; undefined where the text is none. */
function namesIn(
  text: string,
): { readonly clusters: readonly string[]; readonly users: readonly string[] } | undefined {
  try {
    const { kind, clusters, users } = parse(text) as Readonly<Record<string, unknown>>;
    if (kind !== "Config") return undefined;
    return { clusters: namesOf(clusters), users: namesOf(users) };
  } catch {
    return undefined;
  }
}

/** Throws if it is no list of things with names. */
function namesOf(list: unknown): readonly string[] {
  return ((list ?? []) as readonly { readonly name: unknown }[]).map((one) => String(one.name));
}

function printKubeconfig({ server, authority, serverName, client }: Kubeconfig): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      clusters: [
        {
          name,
          cluster: {
            server,
            ...(serverName === undefined ? {} : { "tls-server-name": serverName }),
            "certificate-authority-data": base64(authority),
          },
        },
      ],
      users: [
        {
          name: user,
          user: {
            "client-certificate-data": base64(client.certificate),
            "client-key-data": base64(client.key),
          },
        },
      ],
      contexts: [{ name, context: { cluster: name, user } }],
      "current-context": name,
    },
    { lineWidth: 0 },
  );
}
