// The part of Deployment's schema that tests and benchmarks of patches use, as the real server publishes it.

import { metadataSchema } from "../apply/custom-kind-schema.ts";
import type { StructuralSchema } from "../schema/structural.ts";

const text: StructuralSchema = { type: "string" };
const integer: StructuralSchema = { type: "integer" };
const flag: StructuralSchema = { type: "boolean" };
const intOrString: StructuralSchema = { "x-kubernetes-int-or-string": true };
const quantity: StructuralSchema = { format: "quantity" };

function struct(properties: Readonly<Record<string, StructuralSchema>>): StructuralSchema {
  return { type: "object", properties };
}

function atomic(properties: Readonly<Record<string, StructuralSchema>>): StructuralSchema {
  return { type: "object", "x-kubernetes-map-type": "atomic", properties };
}

function mapOf(additionalProperties: StructuralSchema): StructuralSchema {
  return { type: "object", additionalProperties };
}

function atomicList(items: StructuralSchema): StructuralSchema {
  return { type: "array", items, "x-kubernetes-list-type": "atomic" };
}

/** A list whose items are told apart by keys; strategic merge knows only the first. */
function keyedList(
  properties: Readonly<Record<string, StructuralSchema>>,
  ...keys: readonly [string, ...string[]]
): StructuralSchema {
  return {
    type: "array",
    items: struct(properties),
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": keys,
    "x-kubernetes-patch-strategy": "merge",
    "x-kubernetes-patch-merge-key": keys[0],
  };
}

const labelSelector = atomic({
  matchLabels: mapOf(text),
  matchExpressions: atomicList(struct({ key: text, operator: text, values: atomicList(text) })),
});

const container = {
  name: text,
  image: text,
  imagePullPolicy: text,
  command: atomicList(text),
  args: atomicList(text),
  workingDir: text,
  env: keyedList(
    {
      name: text,
      value: text,
      valueFrom: struct({
        secretKeyRef: atomic({ name: text, key: text, optional: flag }),
        fieldRef: atomic({ apiVersion: text, fieldPath: text }),
      }),
    },
    "name",
  ),
  ports: keyedList(
    {
      name: text,
      containerPort: integer,
      hostPort: integer,
      protocol: { type: "string", default: "TCP" },
    },
    "containerPort",
    "protocol",
  ),
  resources: struct({ limits: mapOf(quantity), requests: mapOf(quantity) }),
  volumeMounts: keyedList({ name: text, mountPath: text, readOnly: flag }, "mountPath"),
  livenessProbe: struct({
    httpGet: struct({ path: text, port: intOrString, scheme: text }),
    periodSeconds: integer,
    initialDelaySeconds: integer,
  }),
  securityContext: struct({ runAsUser: integer, readOnlyRootFilesystem: flag }),
  terminationMessagePath: text,
  terminationMessagePolicy: text,
} as const;

/** The schema of a Deployment, as far as it goes. */
export const deploymentSchema: StructuralSchema = struct({
  apiVersion: text,
  kind: text,
  metadata: metadataSchema,
  spec: struct({
    replicas: integer,
    minReadySeconds: integer,
    paused: flag,
    progressDeadlineSeconds: integer,
    revisionHistoryLimit: integer,
    selector: labelSelector,
    strategy: {
      ...struct({
        type: text,
        rollingUpdate: struct({ maxSurge: intOrString, maxUnavailable: intOrString }),
      }),
      "x-kubernetes-patch-strategy": "retainKeys",
    },
    template: struct({
      metadata: metadataSchema,
      spec: struct({
        containers: keyedList(container, "name"),
        initContainers: keyedList(container, "name"),
        volumes: {
          ...keyedList(
            {
              name: text,
              emptyDir: struct({ medium: text, sizeLimit: quantity }),
              configMap: struct({
                name: text,
                items: atomicList(struct({ key: text, path: text })),
              }),
              secret: struct({ secretName: text }),
            },
            "name",
          ),
          "x-kubernetes-patch-strategy": "merge,retainKeys",
        },
        imagePullSecrets: keyedList({ name: text }, "name"),
        nodeSelector: { ...mapOf(text), "x-kubernetes-map-type": "atomic" },
        tolerations: atomicList(struct({ key: text, operator: text, value: text, effect: text })),
        restartPolicy: text,
        dnsPolicy: text,
        schedulerName: text,
        serviceAccountName: text,
        securityContext: struct({ runAsNonRoot: flag, fsGroup: integer }),
        terminationGracePeriodSeconds: integer,
      }),
    }),
  }),
  status: struct({
    replicas: integer,
    observedGeneration: integer,
    conditions: keyedList({ type: text, status: text, reason: text, message: text }, "type"),
  }),
});
