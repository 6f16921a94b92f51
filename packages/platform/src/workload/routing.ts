// How requests from outside find an app: its own Ingress, and the one of its REST API.

import type { DynamicObject } from "@keelson/client";
import type { JsonObject } from "@keelson/base";

import { hasDatabase, type App } from "../app.ts";
import { childOf } from "../children/child.ts";
import { bytesOf } from "../storage/file-size.ts";
import { servicePort } from "./service.ts";

export interface RoutingSettings {
  readonly ingressClass: string;
  /** Which controller's way of stripping a prefix is spoken. */
  readonly ingressRewrite: "nginx" | "traefik";
  readonly clusterIssuer: string;
  /** The certificate that all previews share, if there is one. */
  readonly previewTlsSecret?: string | undefined;
}

const apiPrefix = "/api/rest";

/** What routes to the app, the API's part only with a database. */
export function routesOf(app: App, settings: RoutingSettings): DynamicObject[] {
  const routes = [mainIngress(app, settings)];
  if (!hasDatabase(app)) return routes;
  if (settings.ingressRewrite === "traefik") routes.push(stripPrefix(app));
  return [...routes, apiIngress(app, settings)];
}

/** It alone asks for the certificate and the DNS entry: two that ask would contend. */
function mainIngress(app: App, settings: RoutingSettings): DynamicObject {
  const { enabled = false, buckets = [] } = app.spec.storage ?? {};
  const bodyBytes = enabled ? Math.max(0, ...buckets.map(bytesOf)) : 0;
  const isShared = sharesCertificate(app, settings);
  return ingress(app, settings, {
    name: app.names.name,
    annotations: {
      ...(isShared ? {} : { "cert-manager.io/cluster-issuer": settings.clusterIssuer }),
      "external-dns.alpha.kubernetes.io/hostname": app.names.domain,
      ...(bodyBytes === 0
        ? {}
        : { "nginx.ingress.kubernetes.io/proxy-body-size": String(bodyBytes) }),
    },
    paths: [{ path: "/", pathType: "Prefix", port: servicePort.app }],
  });
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
  const middleware = `${app.namespace}-${name}@kubernetescrd`;
  return ingress(app, settings, {
    name,
    annotations: { "traefik.ingress.kubernetes.io/router.middlewares": middleware },
    paths: [
      { path: apiPrefix, pathType: "Exact", port },
      { path: `${apiPrefix}/`, pathType: "Prefix", port },
    ],
  });
}

function stripPrefix(app: App): DynamicObject {
  return childOf(app, {
    apiVersion: "traefik.io/v1alpha1",
    kind: "Middleware",
    name: app.names.children.api,
    content: { spec: { stripPrefix: { prefixes: [apiPrefix] } } },
  });
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
