// Tokens of a service account, each bound to a Secret of its own: without the Secret the token is refused.

import assert from "node:assert/strict";

import type { Oracle } from "../cluster.ts";
import { until } from "../../tools/until.ts";

export class AccountTokens {
  readonly account = `account-${crypto.randomUUID().slice(0, 8)}`;
  readonly #oracle: Oracle;
  readonly #signal: AbortSignal;
  readonly #issued: { readonly name: string; readonly token: string }[] = [];
  #isThere = false;

  constructor(oracle: Oracle, signal: AbortSignal) {
    this.#oracle = oracle;
    this.#signal = signal;
  }

  async next(): Promise<string> {
    const path = "/api/v1/namespaces/default/serviceaccounts";
    if (!this.#isThere) await this.#send("POST", path, { metadata: { name: this.account } });
    this.#isThere = true;
    const name = `bound-${crypto.randomUUID().slice(0, 8)}`;
    const secrets = "/api/v1/namespaces/default/secrets";
    const secret = await this.#send("POST", secrets, { metadata: { name } });
    const boundObjectRef = { apiVersion: "v1", kind: "Secret", name, uid: secret.metadata.uid };
    const { status } = await this.#send("POST", `${path}/${this.account}/token`, {
      spec: { boundObjectRef },
    });
    this.#issued.push({ name, token: status.token });
    return status.token;
  }

  /** Makes the server refuse all but the last, and waits until it does: it remembers them for ten seconds. */
  async revokeBefore(): Promise<void> {
    for (const { name, token } of this.#issued.splice(0, this.#issued.length - 1)) {
      await this.#send("DELETE", `/api/v1/namespaces/default/secrets/${name}`);
      await untilRefused(this.#oracle, token, this.#signal);
    }
  }

  async #send(method: "POST" | "DELETE", path: string, body?: object) {
    const response = await this.#oracle.client.send({ method, path, body }, this.#signal);
    assert.ok(response.status < 300, response.text);
    return response.body as { metadata: { uid: string }; status: { token: string } };
  }
}

/** Waits until the server knows nobody by this token. */
export async function untilRefused(
  oracle: Oracle,
  token: string,
  signal: AbortSignal,
): Promise<void> {
  using old = oracle.connectAs({ token });
  const ask = { path: "/api/v1/namespaces" };
  await until(async () => (await old.send(ask, signal)).status === 401, signal);
}
