// What the encrypted column of a target holds: a kubeconfig, and how far it is trusted.

import { isJsonObject, readJson, writeJson } from "@keelson/base";
import type { KubeconfigSource } from "@keelson/client";
import { CredentialUnreadable, type CredentialCipher } from "./credential-cipher.ts";

/** How a cluster is reached. */
export interface StoredAccess {
  /** The text, or the files of whoever configures the server, read anew when they change. */
  readonly source: Extract<KubeconfigSource, { text: string } | { files: readonly string[] }>;
  readonly context: string | undefined;
  /** `anything` only if it came from our own configuration: what somebody sent must not run programs here. */
  readonly trust: "anything" | "data";
}

export function sealAccess(
  cipher: CredentialCipher,
  clusterId: string,
  { source, context, trust }: StoredAccess,
): Buffer {
  const said = "text" in source ? { text: source.text } : { files: source.files };
  const text = writeJson({ ...said, ...(context === undefined ? {} : { context }), trust });
  return cipher.encrypt(text, clusterId);
}

/** Throws `CredentialUnreadable`. */
export function openAccess(
  cipher: CredentialCipher,
  clusterId: string,
  bytes: Uint8Array,
): StoredAccess {
  const stored = readJson(cipher.decrypt(bytes, clusterId));
  const { text, files, context, trust } = isJsonObject(stored) ? stored : {};
  const source =
    typeof text === "string"
      ? { text }
      : { files: Array.isArray(files) ? files.filter((file) => typeof file === "string") : [] };
  if (trust !== "anything" && trust !== "data") {
    throw new CredentialUnreadable(`the credential of ${clusterId} is in no known form`);
  }
  return { source, context: typeof context === "string" ? context : undefined, trust };
}
