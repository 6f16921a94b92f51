// The credentials of one context of a kubeconfig, over the readings of its files.

import { untilAbort, type Clock } from "@keelson/base";

import type { Credential, Credentials } from "./credentials.ts";
import { withDeadline } from "./deadline.ts";
import { DeadlineExceeded } from "./errors.ts";
import { BadKubeconfig } from "./kubeconfig-document.ts";
import { writeBack } from "./kubeconfig-write-back.ts";
import { OidcTokens, type OidcSettings } from "./oidc.ts";
import type { EnvironmentProxies } from "./proxy.ts";

/** A kubeconfig as it was read once. */
export interface Reading {
  /** Reads the files and runs the plugins that the user's entry names. */
  credential(): Promise<Credential>;
  /** Who else is to be asked for a token, and the file that says so, if it is a file. */
  readonly oidc: { readonly settings: OidcSettings; readonly file: string | undefined } | undefined;
}

export interface KubeconfigCredentialsOptions {
  readonly first: Reading;
  readonly read: () => Promise<Reading>;
  readonly clock: Clock;
  readonly proxies: EnvironmentProxies;
}

/** Credentials in force are asked for again after this long: files may have been replaced, tokens expired. */
const freshMs = 1_000;
/** Refusals within this long of a renewal speak of what was used before it. */
const renewMsMin = 1_000;
/** A plugin or provider that takes longer is given up; whoever asks next begins anew. */
const askMsMax = 60_000;

/** One plugin runs at a time, whoever asks. */
export class KubeconfigCredentials implements Credentials {
  readonly #options: KubeconfigCredentialsOptions;
  #reading: Reading | undefined;
  /** Kept over readings: what a provider has given us since is in no file that we may not write. */
  #tokens: OidcTokens | undefined;
  #held: { readonly credential: Credential; readonly atMs: number } | undefined;
  #asking: Promise<Credential> | undefined;
  #renewedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: KubeconfigCredentialsOptions) {
    this.#options = options;
    this.#reading = options.first;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    signal.throwIfAborted();
    const held = this.#held;
    const nowMs = this.#options.clock.monotonic();
    if (held !== undefined && nowMs - held.atMs < freshMs) return held.credential;
    this.#asking ??= this.#askInTime().finally(() => (this.#asking = undefined));
    return await untilAbort(this.#asking, signal);
  }

  renew(): void {
    const nowMs = this.#options.clock.monotonic();
    // Many who were under way are refused one after the other: one plugin, not one for each.
    if (nowMs - this.#renewedAtMs < renewMsMin) return;
    this.#renewedAtMs = nowMs;
    // Files are read anew, and with the reader its memory of tokens goes too.
    this.#reading = undefined;
    this.#held = undefined;
    this.#tokens?.renew();
  }

  async #askInTime(): Promise<Credential> {
    const { clock } = this.#options;
    try {
      return await withDeadline(
        { clock, timeoutMs: askMsMax, what: "getting credentials" },
        (signal) => untilAbort(this.#ask(), signal),
        never,
      );
    } catch (error) {
      this.#reading = undefined; // Somebody may mend the file.
      if (!(error instanceof DeadlineExceeded)) throw error;
      throw new BadKubeconfig("the credentials of the kubeconfig cannot be had", { cause: error });
    }
  }

  async #ask(): Promise<Credential> {
    const reading = (this.#reading ??= await this.#options.read());
    const credential = await this.#withToken(reading, await reading.credential());
    if (this.#reading === reading) {
      this.#held = { credential, atMs: this.#options.clock.monotonic() };
    }
    return credential;
  }

  async #withToken({ oidc }: Reading, credential: Credential): Promise<Credential> {
    if (oidc === undefined) return credential;
    const { clock, proxies } = this.#options;
    const { settings, file } = oidc;
    // Another login, or another process that has refreshed: what the file says now counts.
    if (this.#tokens === undefined || !this.#tokens.knows(settings)) {
      this.#tokens = new OidcTokens(settings, {
        clock,
        proxies,
        ...(file === undefined
          ? {}
          : { onRefreshed: (after, before) => writeBack(file, before, after) }),
      });
    }
    const token = await this.#tokens.current();
    return { ...credential, headers: { ...credential.headers, authorization: `Bearer ${token}` } };
  }
}

const never = new AbortController().signal;
