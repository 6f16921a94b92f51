// Replicas are equal: what one has signed all others believe. So whoever serves a store has the keys of those who serve it already;
// a server that has others does not begin. One that comes when all are gone may have any: it was restored, or has moved.

import { hash } from "node:crypto";

import {
  isCancellation,
  jsonEqual,
  type Clock,
  type JsonObject,
  type Log,
  type Random,
} from "@keelson/base";
import { timeFromMs } from "@keelson/kube";
import { AlreadyExists, Body, Conflict, type Store } from "@keelson/store";

import { Patience } from "../../bootstrap/patience.ts";
import { findRow } from "../../find-row.ts";
import { publicKeyOf } from "./certificate.ts";
import type { Pki } from "./standalone-pki.ts";

/** A server that lives serves the store with other keys. */
export class OtherKeys extends Error {
  override readonly name = "OtherKeys";
  readonly code = "OTHER_KEYS";
}

export interface CommonKeysOptions {
  readonly store: Pick<Store, "claim" | "get" | "create" | "update">;
  readonly pki: Pki;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits?: Partial<typeof limits>;
}

/** How long a database that is away is waited for, as by every step of a start. */
const startPatienceMs = 30_000;

const limits = {
  /** How long the keys of a server that was killed count; two renewals may fail before those of one that lives do not. */
  ttlMs: 15_000,
  renewMs: 5_000,
  /** How long a start waits to see whether those who have other keys live. */
  waitMs: 20_000,
  askMs: 500,
};

/** All replicas with the same keys hold it together; the holder's name is those keys. So nobody gives it back. */
const lease = "keys";
/** Where the keys are remembered: in the store, as what no API shows. */
const kind = "ServerKeys";
const key = { kind: `${kind}.keelson.dev`, namespace: "", name: "standalone" } as const;

/** The right to serve with our keys, held for as long as `run` runs. */
export class CommonKeys {
  readonly #options: CommonKeysOptions;
  readonly #limits: typeof limits;
  readonly #fingerprints: JsonObject;
  readonly #holder: string;
  readonly #patience: Patience;

  private constructor(options: CommonKeysOptions) {
    this.#options = options;
    this.#limits = { ...limits, ...options.limits };
    const { authority, frontProxyAuthority, serviceAccountPublicKey } = options.pki;
    this.#fingerprints = {
      ca: fingerprint(publicKeyOf(authority.key)),
      frontProxyCa: fingerprint(publicKeyOf(frontProxyAuthority.key)),
      serviceAccounts: fingerprint(serviceAccountPublicKey),
    };
    this.#holder = fingerprint(JSON.stringify(this.#fingerprints));
    this.#patience = new Patience({ ...options, patienceMs: startPatienceMs });
  }

  /**
   * Resolves once nobody else serves the store, or only such as have the same keys. Throws `OtherKeys` where somebody with
   * others goes on living, and `DatabaseAway`.
   */
  static async open(options: CommonKeysOptions, signal: AbortSignal): Promise<CommonKeys> {
    const keys = new CommonKeys(options);
    await keys.#patience.of("the right to serve", () => keys.#begin(signal), signal);
    return keys;
  }

  /** Keeps our keys with the state, and says if they were others. Throws `DatabaseAway`. */
  async remember(signal: AbortSignal): Promise<void> {
    await this.#patience.of("the keys of before", () => this.#remember(signal), signal);
  }

  /** Keeps it so until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    let isLost = false;
    while (!signal.aborted) {
      await clock.sleep(this.#limits.renewMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      try {
        const isHeld = await this.#claim(signal);
        // We could not be heard for so long that it was taken for the end.
        if (!isHeld && !isLost) {
          log.error(
            {},
            "a server with other keys serves this database: each refuses what the other signs",
          );
        }
        isLost = !isHeld;
      } catch (error) {
        if (isCancellation(error, signal)) return;
        log.debug({ error }, "the right to serve could not be renewed");
      }
    }
  }

  async #claim(signal: AbortSignal): Promise<boolean> {
    const { ttlMs } = this.#limits;
    return (
      (await this.#options.store.claim(lease, { holder: this.#holder, ttlMs }, signal)) !==
      undefined
    );
  }

  async #begin(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const deadlineMs = clock.monotonic() + this.#limits.waitMs;
    for (let isTold = false; !(await this.#claim(signal)); isTold = true) {
      if (clock.monotonic() > deadlineMs) {
        throw new OtherKeys("another server that lives serves this database with other keys");
      }
      if (!isTold) log.warn({}, "waiting to see whether a server with other keys still lives");
      await clock.sleep(this.#limits.askMs, signal);
    }
  }

  async #remember(signal: AbortSignal): Promise<void> {
    const { store, clock, random, log } = this.#options;
    for (;;) {
      try {
        const found = await findRow(store, key, signal);
        if (found === undefined) {
          const metadata = {
            name: key.name,
            uid: random.uuid(),
            creationTimestamp: timeFromMs(clock.now()),
          };
          const object = { apiVersion: "keelson.dev/v1", kind, metadata, spec: this.#fingerprints };
          await store.create(key, Body.of(object), signal);
          return;
        }
        const { spec } = found.body.value as { readonly spec?: JsonObject };
        if (jsonEqual(spec ?? {}, this.#fingerprints)) return;
        const changed = Object.keys(this.#fingerprints).filter(
          (name) => spec?.[name] !== this.#fingerprints[name],
        );
        const body = Body.of({ ...found.body.value, spec: this.#fingerprints });
        await store.update(key, { body, expect: { revision: found.revision } }, signal);
        log.warn(
          { changed },
          "this database was served with other keys before: tokens and client certificates from then are refused",
        );
        return;
      } catch (error) {
        // Another replica with our keys was faster.
        if (!(error instanceof AlreadyExists || error instanceof Conflict)) throw error;
      }
    }
  }
}

function fingerprint(text: string): string {
  return `sha256:${hash("sha256", text)}`;
}
