import type { DynamicObject } from "@keelson/client";

import { hasDatabase, type App } from "../app.ts";
import { childOf, selectorOf } from "../children/child.ts";
import { appPortOf } from "./app-container.ts";
import { restPort } from "./rest-container.ts";

/** Where the Service listens. */
export const servicePort = { app: 80, rest: restPort } as const;

export function serviceOf(app: App): DynamicObject {
  const ports = [
    { name: "http", port: servicePort.app, protocol: "TCP", targetPort: appPortOf(app) },
    ...(hasDatabase(app)
      ? [{ name: "rest", port: servicePort.rest, protocol: "TCP", targetPort: restPort }]
      : []),
  ];
  return childOf(app, {
    apiVersion: "v1",
    kind: "Service",
    name: app.names.name,
    content: { spec: { selector: selectorOf(app), ports } },
  });
}
