// How requests from outside find an app: its own Ingress, and the one of its REST API.

import type { DynamicObject } from "@keelson/client";
import type { JsonObject } from "@keelson/base";

import { hasDatabase, type App } from "../app.ts";
import { childOf } from "../children/child.ts";
import { bodyBytesOf } from "../storage/file-size.ts";
import { servicePort } from "./service.ts";

export interface RoutingSettings {
  readonly ingressClass: string;
  /** Which controller's way of stripping a prefix is spoken. */
  readonly ingressRewrite: "nginx" | "traefik";
  readonly clusterIssuer: string;
  /** The certificate that all previews share, if there is one. */
  readonly previewTlsSecret?: string | undefined;
}

/** What traefik does with a request on its way. */
export const middlewareKind = { apiVersion: "traefik.io/v1alpha1", kind: "Middleware" } as const;

const middlewaresKey = "traefik.ingress.kubernetes.io/router.middlewares";
const apiPrefix = "/api/rest";

/** What routes to the app, the API's part only with a database. */
export function routesOf(app: App, settings: RoutingSettings): DynamicObject[] {
  const isTraefik = settings.ingressRewrite === "traefik";
  const bodyBytes = bodyBytesFor(app);
  return [
    ...(isTraefik && bodyBytes > 0 ? [bodyLimit(app, bodyBytes)] : []),
    mainIngress(app, settings),
    ...(isTraefik && hasDatabase(app) ? [stripPrefix(app)] : []),
    ...(hasDatabase(app) ? [apiIngress(app, settings)] : []),
  ];
}

function bodyBytesFor({ spec: { storage } }: App): number {
  return storage?.enabled === true ? bodyBytesOf(storage.buckets ?? []) : 0;
}

/** It alone asks for the certificate and the DNS entry: two that ask would contend. */
function mainIngress(app: App, settings: RoutingSettings): DynamicObject {
  const isShared = sharesCertificate(app, settings);
  return ingress(app, settings, {
    name: app.names.name,
    annotations: {
      ...(isShared ? {} : { "cert-manager.io/cluster-issuer": settings.clusterIssuer }),
      "external-dns.alpha.kubernetes.io/hostname": app.names.domain,
      ...bodyAnnotation(app, settings),
    },
    paths: [{ path: "/", pathType: "Prefix", port: servicePort.app }],
  });
}

/** The largest body that is let through, as the controller is told it. */
function bodyAnnotation(app: App, { ingressRewrite }: RoutingSettings): Record<string, string> {
  const bodyBytes = bodyBytesFor(app);
  if (bodyBytes === 0) return {};
  return ingressRewrite === "nginx"
    ? { "nginx.ingress.kubernetes.io/proxy-body-size": String(bodyBytes) }
    : { [middlewaresKey]: middlewareRef(app, bodyLimitName(app)) };
}

/** `/api/rest/todos` arrives as `/todos`; `/api/restore` is the app's. */
function apiIngress(app: App, settings: RoutingSettings): DynamicObject {
  const name = app.names.children.api;
  const port = servicePort.rest;
  if (settings.ingressRewrite === "nginx") {
    return ingress(app, settings, {
      name,
      annotations: { "nginx.ingress.kubernetes.io/rewrite-target": "/$2" },
      paths: [{ path: `${apiPrefix}(/|$)(.*)`, pathType: "ImplementationSpecific", port }],
    });
  }
  return ingress(app, settings, {
    name,
    annotations: { [middlewaresKey]: middlewareRef(app, name) },
    paths: [
      { path: apiPrefix, pathType: "Exact", port },
      { path: `${apiPrefix}/`, pathType: "Prefix", port },
    ],
  });
}

function stripPrefix(app: App): DynamicObject {
  return childOf(app, {
    ...middlewareKind,
    name: app.names.children.api,
    content: { spec: { stripPrefix: { prefixes: [apiPrefix] } } },
  });
}

/** traefik has no limit of its own; it counts what it has buffered. */
function bodyLimit(app: App, maxRequestBodyBytes: number): DynamicObject {
  return childOf(app, {
    ...middlewareKind,
    name: bodyLimitName(app),
    content: { spec: { buffering: { maxRequestBodyBytes } } },
  });
}

function bodyLimitName({ names }: App): string {
  return `${names.name}-body`;
}

function middlewareRef({ namespace }: App, name: string): string {
  return `${namespace}-${name}@kubernetescrd`;
}

function ingress(
  app: App,
  settings: RoutingSettings,
  asked: {
    readonly name: string;
    readonly annotations: Readonly<Record<string, string>>;
    readonly paths: readonly {
      readonly path: string;
      readonly pathType: string;
      readonly port: number;
    }[];
  },
): DynamicObject {
  const { names } = app;
  const secretName =
    (sharesCertificate(app, settings) ? settings.previewTlsSecret : undefined) ??
    names.children.tls;
  const paths = asked.paths.map(({ path, pathType, port }): JsonObject => ({
    path,
    pathType,
    backend: { service: { name: names.name, port: { number: port } } },
  }));
  return childOf(app, {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    name: asked.name,
    annotations: asked.annotations,
    content: {
      spec: {
        ingressClassName: settings.ingressClass,
        rules: [{ host: names.domain, http: { paths } }],
        tls: [{ hosts: [names.domain], secretName }],
      },
    },
  });
}

function sharesCertificate({ kind }: App, { previewTlsSecret }: RoutingSettings): boolean {
  return kind === "PreviewEnvironment" && previewTlsSecret !== undefined;
}
