// The API server by itself: its own certificates, its own users, a kubeconfig for whoever started it.

import { readFile } from "node:fs/promises";

import {
  listenerUrl,
  TaskScope,
  type Clock,
  type Log,
  type Metrics,
  type Random,
} from "@keelson/base";
import type { Store } from "@keelson/store";

import type { AdmissionPlugin } from "./admission/admission.ts";
import { ApiServer, type IdentityParts } from "./apiserver.ts";
import type { Audit } from "./audit.ts";
import { certificateAuthenticator } from "./auth/client-certificates.ts";
import { CertificateFiles, checkCertificateFiles } from "./auth/pki/certificate-files.ts";
import { CertificatePool, readCertificates } from "./auth/pki/certificate-pool.ts";
import { CommonKeys } from "./auth/pki/common-keys.ts";
import { hostsAt } from "./auth/pki/hosts-at.ts";
import { writeKubeconfig } from "./auth/pki/kubeconfig.ts";
import { errorCode } from "./auth/pki/secret-file.ts";
import { authorityOf, serverNameFor } from "./auth/pki/served-chain.ts";
import { servingOptions } from "./auth/pki/serving.ts";
import { openPki, pkiPaths, renewPki, type Pki } from "./auth/pki/standalone-pki.ts";
import { OwnTokens } from "./auth/own-tokens.ts";
import { requestHeaderAuthenticator, usualRequestHeaders } from "./auth/request-header.ts";
import { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
import {
  bearerAuthenticator,
  unionTokens,
  type TokenAuthenticator,
} from "./auth/token-authenticator.ts";
import { tokenFileAuthenticator, TokenFileError } from "./auth/token-file.ts";
import { unionAuthenticator } from "./auth/union.ts";
import type { Resource } from "./resources/resource.ts";

export interface StandaloneOptions {
  /** Belongs to the caller, and outlives the server. */
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly resources?: readonly Resource[];
  /** Told of every finished request. */
  readonly audit?: Audit;
  readonly admission?: readonly AdmissionPlugin[];
  readonly host: string;
  readonly port: number;
  /** Where certificates and keys are kept, and made if there are none. */
  readonly certDir: string;
  /** A certificate to show instead of our own. */
  readonly servingFiles: { readonly certificate: string; readonly key: string } | undefined;
  /** Authorities that may vouch for clients besides our own. */
  readonly clientAuthorityFile: string | undefined;
  readonly tokenFile: string | undefined;
  /** Whether callers without credentials are let in, as `system:anonymous`; else they hear 401, whatever they ask for. */
  readonly allowsAnonymous: boolean;
  /** Where the kubeconfig goes. */
  readonly kubeconfig: string;
  /** Whether the loop runs that marks workloads as a healthy cluster would. */
  readonly simulatesWorkloads: boolean;
}

/** Where the server is, whose certificate it shows (PEM), and a token. */
export interface OwnAccess {
  readonly server: string;
  readonly ca: string;
  readonly token: string;
}

/** The issuer of ServiceAccount tokens, and what they are good for. */
const issuer = "https://kubernetes.default.svc.cluster.local";
const audiences = [issuer];

/**
 * Throws a `CertificateFileError` or a `TokenFileError` if one of the files that belong to others cannot be used, as the start would
 * when it comes to them.
 */
export async function refuseWrongFiles({
  servingFiles,
  clientAuthorityFile,
  tokenFile,
  log,
}: Pick<
  StandaloneOptions,
  "servingFiles" | "clientAuthorityFile" | "tokenFile" | "log"
>): Promise<void> {
  const clientAuthorities = clientAuthorityFile === undefined ? [] : [clientAuthorityFile];
  await checkCertificateFiles({ ...servingFiles, clientAuthorities });
  if (tokenFile !== undefined) await openTokenFile(tokenFile, log);
}

/** A listening server, its kubeconfig written. */
export class StandaloneServer implements AsyncDisposable {
  readonly api: ApiServer;
  /** `https://127.0.0.1:6443`. */
  readonly url: string;
  /** Whom to trust, as it is now. */
  readonly #told: { readonly authority: string };
  readonly #ownTokens: OwnTokens;
  readonly #undo: AsyncDisposableStack;

  private constructor(parts: {
    readonly api: ApiServer;
    readonly url: string;
    readonly told: { readonly authority: string };
    readonly ownTokens: OwnTokens;
    readonly undo: AsyncDisposableStack;
  }) {
    this.api = parts.api;
    this.url = parts.url;
    this.#told = parts.told;
    this.#ownTokens = parts.ownTokens;
    this.#undo = parts.undo;
  }

  /** Throws `OtherKeys`, `PkiBroken`, `CertificateFileError`, `TokenFileError`, `KubeconfigFileError`, `DatabaseAway`, or what listening throws. */
  static async start(options: StandaloneOptions, signal: AbortSignal): Promise<StandaloneServer> {
    const { clock, random, log, host, port, certDir } = options;
    await using undo = new AsyncDisposableStack();
    const pkiOptions = { folder: certDir, hosts: await hostsAt(host), clock, random, log };
    const pki = await openPki(pkiOptions);
    const keys = await CommonKeys.open({ ...options, pki }, signal);
    const scope = undo.use(new TaskScope(signal));
    scope.spawn("keys", (within) => keys.run(within));
    await keys.remember(signal);
    const files = await openFiles(options);
    const tokenFile =
      options.tokenFile === undefined ? undefined : await openTokenFile(options.tokenFile, log);
    const ownTokens = new OwnTokens({ audiences, random });
    const told = { pki, authority: trustedBy(files, { pki, options }) };
    const api = undo.use(
      await ApiServer.start(
        {
          ...options,
          identity: (parts) => identityOf(parts, { options, pki, files, tokenFile, ownTokens }),
          rootCertificate: told.authority,
          tls: servingOptions(files.current),
        },
        signal,
      ),
    );
    const url = listenerUrl("https", await api.listen({ host, port }));
    const write = (): Promise<void> =>
      writeKubeconfig(
        options.kubeconfig,
        {
          server: url,
          authority: told.authority,
          serverName: serverNameFor(files.current.certificate, url),
          client: told.pki.admin,
        },
        random,
      );
    await write();
    const follow = files.onChange((loaded) => {
      api.server.useCertificates(servingOptions(loaded));
      // Of our own certificates renewal tells.
      if (options.servingFiles === undefined) return;
      told.authority = trustedBy(files, { pki: told.pki, options });
      api.spawn("kubeconfig", () =>
        write().catch((error: unknown) =>
          log.error({ error }, "the kubeconfig could not be written again"),
        ),
      );
    });
    undo.use(follow);
    api.spawn("certificates", (within) => files.run(within));
    const renewed = async (next: Pki): Promise<void> => {
      told.pki = next;
      if (options.servingFiles === undefined) told.authority = next.authority.certificate;
      await write();
    };
    api.spawn("renewal", (within) => renewPki(pkiOptions, { pki, renewed }, within));
    return new StandaloneServer({ api, url, told, ownTokens, undo: undo.move() });
  }

  /** The way in for another part of this process, which needs no file for it. */
  accessFor(part: string): OwnAccess {
    return { server: this.url, ca: this.#told.authority, token: this.#ownTokens.issue(part) };
  }

  /** Resolves never, or rejects with what no loop could survive. */
  join(): Promise<void> {
    return this.api.join();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#undo.disposeAsync();
  }
}

/** The certificate that we show, and who may vouch for clients. */
function openFiles(options: StandaloneOptions): Promise<CertificateFiles> {
  const { certDir, servingFiles, clientAuthorityFile, clock, log } = options;
  const { serving, authority } = pkiPaths(certDir);
  const others = clientAuthorityFile === undefined ? [] : [clientAuthorityFile];
  const clientAuthorities = [authority.certificate, ...others];
  const paths = { ...(servingFiles ?? serving), clientAuthorities };
  return CertificateFiles.open({ paths, clock, log });
}

/** Whom clients must trust to believe the certificate that we show. */
function trustedBy(
  files: CertificateFiles,
  { pki, options }: { readonly pki: Pki; readonly options: StandaloneOptions },
): string {
  const { servingFiles, log } = options;
  if (servingFiles === undefined) return pki.authority.certificate;
  const { authority, isRoot } = authorityOf(files.current.certificate);
  if (!isRoot) {
    log.warn(
      { file: servingFiles.certificate },
      "the certificate comes without its root: our kubeconfig trusts the last of its chain, as kubectl does and other clients may not",
    );
  }
  return authority;
}

/** The tokens of a file. Throws a `TokenFileError` that names it. */
async function openTokenFile(path: string, log: Log): Promise<TokenAuthenticator> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    throw new TokenFileError(`${path} cannot be read (${errorCode(cause)})`, { cause });
  }
  try {
    return tokenFileAuthenticator(text, { audiences, log });
  } catch (cause) {
    if (!(cause instanceof TokenFileError)) throw cause;
    throw new TokenFileError(`${path} cannot be used: ${cause.message}`, { cause });
  }
}

/** Who callers are: by certificate, by front proxy, by token. */
function identityOf(
  { objects }: IdentityParts,
  {
    options,
    pki,
    files,
    tokenFile,
    ownTokens,
  }: {
    readonly options: StandaloneOptions;
    readonly pki: Pki;
    readonly files: CertificateFiles;
    readonly tokenFile: TokenAuthenticator | undefined;
    readonly ownTokens: OwnTokens;
  },
) {
  const { clock, log } = options;
  const serviceAccounts = new ServiceAccountTokens({
    issuer,
    audiences,
    key: pki.serviceAccountKey,
    clock,
    objects,
  });
  const tokens = unionTokens([
    ownTokens,
    ...(tokenFile === undefined ? [] : [tokenFile]),
    serviceAccounts,
  ]);
  const frontProxies = new CertificatePool(readCertificates(pki.frontProxyAuthority.certificate));
  const authenticator = unionAuthenticator({
    authenticators: [
      requestHeaderAuthenticator({
        clock,
        authorities: () => frontProxies,
        names: () => usualRequestHeaders,
      }),
      certificateAuthenticator({ clock, authorities: () => files.current.clientAuthorities }),
      bearerAuthenticator(tokens, audiences),
    ],
    allowsAnonymous: options.allowsAnonymous,
    log,
  });
  return { authenticator, tokens, serviceAccounts };
}
