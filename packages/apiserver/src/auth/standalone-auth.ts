// Everything about identity and rights that a server needs which stands alone, put together.

import { readFile } from "node:fs/promises";

import { TaskScope, type Clock, type Log, type Random } from "@keelson/base";

import type { Authenticator } from "./authenticator.ts";
import type { BoundObjects } from "./bound-objects.ts";
import { certificateAuthenticator } from "./client-certificates.ts";
import { Impersonation } from "./impersonation.ts";
import { CertificateFiles } from "./pki/certificate-files.ts";
import { CertificatePool, readCertificates } from "./pki/certificate-pool.ts";
import { openPki, pkiPaths, renewPki, type Pki } from "./pki/standalone-pki.ts";
import { writeKubeconfig } from "./pki/kubeconfig.ts";
import { RbacAuthorizer, type RbacMirrors } from "./rbac/rbac-authorizer.ts";
import {
  requestHeaderAuthenticator,
  usualRequestHeaders,
  type RequestHeaderNames,
} from "./request-header.ts";
import type { ReviewDependencies } from "./reviews/reviews.ts";
import type { TokenRequestDependencies } from "./reviews/token-request.ts";
import { ServiceAccountTokens } from "./service-account-tokens.ts";
import {
  bearerAuthenticator,
  unionTokens,
  type TokenAuthenticator,
} from "./token-authenticator.ts";
import { tokenFileAuthenticator } from "./token-file.ts";
import { unionAuthenticator } from "./union.ts";

export interface StandaloneAuthOptions {
  /** Where generated certificates and keys are: `--cert-dir`. */
  readonly certDir: string;
  /** What clients may call the server besides the usual names. */
  readonly hosts?: readonly string[];
  /** Instead of the generated certificate: `--tls-cert-file`, `--tls-private-key-file`. */
  readonly serving?: { readonly certificate: string; readonly key: string };
  /** Who vouches for clients besides our own authority: `--client-ca-file`. */
  readonly clientAuthorityFile?: string;
  /** `--token-auth-file`. */
  readonly tokenFile?: string;
  readonly issuer?: string;
  readonly allowsAnonymous?: boolean;
  readonly objects: BoundObjects;
  readonly mirrors: RbacMirrors;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Which names in `X-Remote-…` headers count, and whose: what the front proxies of our own authority are called. */
export const standaloneFrontProxies: RequestHeaderNames = {
  ...usualRequestHeaders,
  allowedNames: ["front-proxy-client"],
};

/** Reads or makes the certificates. Dispose of it at the end. */
export async function openStandaloneAuth(options: StandaloneAuthOptions): Promise<StandaloneAuth> {
  const { certDir, clock, log, random } = options;
  const pkiOptions = { folder: certDir, hosts: options.hosts ?? [], clock, random, log };
  const pki = await openPki(pkiOptions);
  const paths = pkiPaths(certDir);
  const { clientAuthorityFile } = options;
  const certificates = await CertificateFiles.open({
    paths: {
      ...(options.serving ?? paths.serving),
      clientAuthorities: [
        paths.authority.certificate,
        ...(clientAuthorityFile === undefined ? [] : [clientAuthorityFile]),
      ],
    },
    clock,
    log,
  });
  const tokenFile =
    options.tokenFile === undefined ? undefined : await readFile(options.tokenFile, "utf8");
  return new StandaloneAuth(options, { pki, certificates, tokenFile });
}

interface Opened {
  readonly pki: Pki;
  readonly certificates: CertificateFiles;
  readonly tokenFile: string | undefined;
}

export class StandaloneAuth implements Disposable {
  /** The server's certificate, as it is now. */
  readonly certificates: CertificateFiles;
  readonly tokens: ServiceAccountTokens;
  readonly authenticator: Authenticator;
  readonly authorizer: RbacAuthorizer;
  readonly impersonation: Impersonation;
  /** What `answerReview` and `issueToken` need. */
  readonly reviews: ReviewDependencies;
  readonly tokenRequests: TokenRequestDependencies;
  readonly #options: StandaloneAuthOptions;
  #pki: Pki;
  #frontProxies: CertificatePool;
  #kubeconfig: { readonly path: string; readonly server: string } | undefined;

  constructor(options: StandaloneAuthOptions, { pki, certificates, tokenFile }: Opened) {
    const { clock, random, log, objects, issuer = defaultIssuer } = options;
    const audiences = [issuer];
    this.#options = options;
    this.#pki = pki;
    this.#frontProxies = poolOf(pki);
    this.certificates = certificates;
    this.tokens = new ServiceAccountTokens({
      issuer,
      audiences,
      key: pki.serviceAccountKey,
      clock,
      objects,
    });
    const tokens: TokenAuthenticator[] = [this.tokens];
    if (tokenFile !== undefined)
      tokens.unshift(tokenFileAuthenticator(tokenFile, { audiences, log }));
    const allTokens = unionTokens(tokens);
    this.authenticator = unionAuthenticator({
      authenticators: [
        requestHeaderAuthenticator({
          clock,
          authorities: () => this.#frontProxies,
          names: () => standaloneFrontProxies,
        }),
        certificateAuthenticator({
          clock,
          authorities: () => certificates.current.clientAuthorities,
        }),
        bearerAuthenticator(allTokens, audiences),
      ],
      allowsAnonymous: options.allowsAnonymous ?? true,
      log,
    });
    this.authorizer = new RbacAuthorizer(options.mirrors);
    this.impersonation = new Impersonation(this.authorizer);
    const { authorizer } = this;
    this.reviews = { authorizer, rules: authorizer.rules, tokens: allTokens, audiences, clock };
    this.tokenRequests = { tokens: this.tokens, objects, clock, random };
  }

  /** The certificates and keys in force. */
  get pki(): Pki {
    return this.#pki;
  }

  /** Writes the administrator's kubeconfig, now and whenever the certificates in it are renewed. */
  async writeKubeconfig(path: string, server: string): Promise<void> {
    this.#kubeconfig = { path, server };
    const authority = this.#pki.authority.certificate;
    const { random } = this.#options;
    await writeKubeconfig(path, { server, authority, client: this.#pki.admin }, random);
  }

  /** Follows the files and renews what expires, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { certDir, hosts = [], clock, random, log } = this.#options;
    await using scope = new TaskScope(signal);
    scope.spawn("certificate files", (signal) => this.certificates.run(signal));
    scope.spawn("certificate renewal", (signal) =>
      renewPki(
        { folder: certDir, hosts, clock, random, log },
        { pki: this.#pki, renewed: (pki) => this.#take(pki) },
        signal,
      ),
    );
    await scope.join();
  }

  [Symbol.dispose](): void {
    this.authorizer[Symbol.dispose]();
  }

  async #take(pki: Pki): Promise<void> {
    this.#pki = pki;
    this.#frontProxies = poolOf(pki);
    await this.certificates.look();
    if (this.#kubeconfig === undefined) return;
    await this.writeKubeconfig(this.#kubeconfig.path, this.#kubeconfig.server);
  }
}

const defaultIssuer = "https://kubernetes.default.svc.cluster.local";

function poolOf({ frontProxyAuthority }: Pki): CertificatePool {
  return new CertificatePool(readCertificates(frontProxyAuthority.certificate));
}
