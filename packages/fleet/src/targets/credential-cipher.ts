// Keeps credentials unreadable in the database: AES-256-GCM, bound to the cluster that each is for.

import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Random } from "@keelson/base";

/** A stored credential that our keys do not open: another key made it, it is another cluster's, or it was changed. */
export class CredentialUnreadable extends Error {
  readonly code = "CREDENTIAL_UNREADABLE";
  override readonly name = "CredentialUnreadable";
}

const formatVersion = 1;
const keyIdBytes = 8;
const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + keyIdBytes + nonceBytes + tagBytes;

interface Key {
  readonly id: Buffer;
  readonly secret: Uint8Array;
}

/**
 * What it writes is a version, the id of the key, a nonce, a tag and the text. The newest key encrypts; older ones still
 * open what they made, until it has been written anew.
 */
export class CredentialCipher {
  readonly #keys: readonly Key[];
  readonly #random: Random;

  /** Keys of 32 bytes, the newest first. */
  constructor(keys: readonly [Uint8Array, ...Uint8Array[]], random: Random) {
    this.#keys = keys.map((secret) => ({ id: keyIdOf(secret), secret }));
    this.#random = random;
  }

  /** Names the newest key: what it makes has this from the second byte on. */
  get keyId(): Uint8Array {
    return this.#keys[0]?.id ?? Buffer.of();
  }

  encrypt(text: string, clusterId: string): Buffer {
    const [{ id, secret }] = this.#keys as readonly [Key];
    const nonce = this.#random.bytes(nonceBytes);
    const cipher = createCipheriv("aes-256-gcm", secret, nonce);
    cipher.setAAD(Buffer.from(clusterId));
    const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    return Buffer.concat([Buffer.of(formatVersion), id, nonce, cipher.getAuthTag(), body]);
  }

  /** Throws `CredentialUnreadable`. */
  decrypt(bytes: Uint8Array, clusterId: string): string {
    const stored = Buffer.from(bytes);
    if (stored.length < headBytes || stored[0] !== formatVersion) {
      throw new CredentialUnreadable(`the credential of ${clusterId} is in no known form`);
    }
    const keyId = stored.subarray(1, 1 + keyIdBytes);
    const key = this.#keys.find(({ id }) => id.equals(keyId));
    if (key === undefined) {
      throw new CredentialUnreadable(
        `the credential of ${clusterId} was encrypted with key ${keyId.toString("hex")}, which is not given`,
      );
    }
    const nonceAt = 1 + keyIdBytes;
    const tagAt = nonceAt + nonceBytes;
    const decipher = createDecipheriv("aes-256-gcm", key.secret, stored.subarray(nonceAt, tagAt));
    decipher.setAAD(Buffer.from(clusterId));
    decipher.setAuthTag(stored.subarray(tagAt, headBytes));
    try {
      return Buffer.concat([
        decipher.update(stored.subarray(headBytes)),
        decipher.final(),
      ]).toString("utf8");
    } catch (cause) {
      throw new CredentialUnreadable(`the credential of ${clusterId} is not as it was written`, {
        cause,
      });
    }
  }

  /** Whether the newest key made it. */
  isCurrent(bytes: Uint8Array): boolean {
    return Buffer.from(bytes)
      .subarray(1, 1 + keyIdBytes)
      .equals(this.keyId);
  }
}

/** Names a key without saying anything of it. */
function keyIdOf(secret: Uint8Array): Buffer {
  return createHash("sha256")
    .update("keelson key id")
    .update(secret)
    .digest()
    .subarray(0, keyIdBytes);
}
