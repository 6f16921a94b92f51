// The app's own container, and the variables that it sees.

import type { JsonObject } from "@keelson/base";

import { hasDatabase, type App } from "../app.ts";
import { lockedDown, probes } from "./container-parts.ts";
import { restPort } from "./rest-container.ts";

const usual = {
  nextjs: { port: 3000, path: "/healthz" },
  docker: { port: 3000, path: "/healthz" },
  rails: { port: 3000, path: "/up" },
  static: { port: 8080, path: "/" },
} as const;

export function appPortOf({ spec }: Pick<App, "spec">): number {
  return spec.port ?? usual[spec.framework].port;
}

/** An object whose members become variables; the later ones win. */
export interface VariableSource {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: string;
  /** The pod starts without it. */
  readonly isOptional?: true;
}

export function sourcesOf({ spec, names: { children } }: App): readonly VariableSource[] {
  const { database, storage, auth, redis, search } = spec;
  const sources: [boolean | undefined, VariableSource][] = [
    [database?.enabled, { kind: "Secret", name: children.database }],
    [storage?.enabled, { kind: "ConfigMap", name: children.storage }],
    // With a role of the cloud there are no keys.
    [storage?.enabled, { kind: "Secret", name: children.storageKeys, isOptional: true }],
    [auth?.enabled, { kind: "ConfigMap", name: children.auth }],
    [redis?.enabled, { kind: "ConfigMap", name: children.redis }],
    [search?.enabled, { kind: "ConfigMap", name: children.search }],
    [true, { kind: "Secret", name: children.env, isOptional: true }],
  ];
  return sources.flatMap(([isOn, source]) => (isOn === true ? [source] : []));
}

/** Needs an image. */
export function appContainer(app: App, image: string): JsonObject {
  const { spec } = app;
  const port = appPortOf(app);
  return {
    name: "app",
    image,
    ports: [{ name: "http", containerPort: port, protocol: "TCP" }],
    envFrom: sourcesOf(app).map(fromSource),
    env: variablesOf(app),
    resources: {
      requests: { cpu: "100m", memory: "256Mi" },
      limits: { cpu: "1", memory: "512Mi" },
    },
    securityContext: {
      ...lockedDown,
      ...(spec.runAsUser === undefined ? {} : { runAsUser: spec.runAsUser }),
    },
    ...probes({ path: spec.probe?.path ?? usual[spec.framework].path, port }),
  };
}

function fromSource({ kind, name, isOptional }: VariableSource): JsonObject {
  const reference = { name, ...(isOptional === true ? { optional: true } : {}) };
  return kind === "Secret" ? { secretRef: reference } : { configMapRef: reference };
}

/** Each name once: the app's own variables win over ours. */
function variablesOf(app: App): JsonObject[] {
  const { spec, names } = app;
  const variables = new Map<string, JsonObject>();
  const say = (name: string, value: string) => variables.set(name, { name, value });
  say("PORT", String(appPortOf(app)));
  say("HOSTNAME", "0.0.0.0");
  if (hasDatabase(app)) {
    say("POSTGREST_URL", `https://${names.domain}/api/rest`);
    say("POSTGREST_INTERNAL_URL", `http://localhost:${restPort}`);
  }
  for (const { name, value, secretKeyRef } of spec.envVars ?? []) {
    if (secretKeyRef === undefined) say(name, value ?? "");
    else variables.set(name, { name, valueFrom: { secretKeyRef: { ...secretKeyRef } } });
  }
  return [...variables.values()];
}
