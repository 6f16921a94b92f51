// The pods of an app, and who they are.

import type { DynamicObject } from "@keelson/client";

import { hasDatabase, type App } from "../app.ts";
import { childOf, labelsOf, selectorOf } from "../children/child.ts";
import { platformGroup } from "../kinds/platform-group.ts";
import { appContainer } from "./app-container.ts";
import { restContainer } from "./rest-container.ts";

export interface PodOptions {
  readonly image: string;
  /** Over everything that the variables come from: another one rolls the pods. */
  readonly checksum: string;
}

/** Without `replicas`: their number is the autoscaler's. */
export function deploymentOf(app: App, { image, checksum }: PodOptions): DynamicObject {
  return childOf(app, {
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: app.names.name,
    content: {
      spec: {
        selector: { matchLabels: selectorOf(app) },
        template: {
          metadata: {
            labels: labelsOf(app),
            annotations: { [`${platformGroup}/checksum`]: checksum },
          },
          spec: {
            serviceAccountName: app.names.name,
            automountServiceAccountToken: false,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
            containers: [
              appContainer(app, image),
              ...(hasDatabase(app) ? [restContainer(app)] : []),
            ],
          },
        },
      },
    },
  });
}

export interface RoleSettings {
  /** Which role of the cloud an app's pods take: `arn:aws:iam::1:role/{namespace}-{app}-{environment}`. */
  readonly appRoleArnTemplate?: string | undefined;
}

export function serviceAccountOf(app: App, { appRoleArnTemplate }: RoleSettings): DynamicObject {
  const { names, spec, namespace } = app;
  const arn = appRoleArnTemplate
    ?.replaceAll("{namespace}", namespace)
    .replaceAll("{app}", names.name)
    .replaceAll("{environment}", spec.environment);
  return childOf(app, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    name: names.name,
    ...(arn === undefined ? {} : { annotations: { "eks.amazonaws.com/role-arn": arn } }),
    content: { automountServiceAccountToken: false },
  });
}
