// A Scale is an object of its own: who manages it is told by its own fields.

import {
  fieldManager,
  metadataSchema,
  type FieldManager,
  type StructuralSchema,
} from "@keelson/kube";

const integer: StructuralSchema = { type: "integer", format: "int32" };

/** The managed fields of a `Scale`, whatever it scales. */
export function scaleManager(): FieldManager {
  return fieldManager({
    group: "autoscaling",
    version: "v1",
    kind: "Scale",
    subresource: "scale",
    empty: { metadata: {}, spec: {}, status: { replicas: 0 } },
    schema: {
      type: "object",
      properties: {
        apiVersion: { type: "string" },
        kind: { type: "string" },
        metadata: metadataSchema,
        spec: { type: "object", properties: { replicas: integer } },
        status: {
          type: "object",
          properties: { replicas: integer, selector: { type: "string" } },
        },
      },
    },
  });
}
