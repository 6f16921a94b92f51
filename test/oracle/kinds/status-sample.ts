// A status to send where the server should not take one.

import type { RawSchema } from "./schemas.ts";

/** A status with its first plain field set; undefined if the type has none. */
export function statusSample(
  type: string,
  schemas: ReadonlyMap<string, RawSchema>,
): Readonly<Record<string, unknown>> | undefined {
  const propertiesOf = (name: unknown): Record<string, RawSchema> =>
    (schemas.get(name as string)?.["properties"] ?? {}) as Record<string, RawSchema>;
  const status = propertiesOf(propertiesOf(type)["status"]?.["$ref"]);
  for (const [name, { type, format, enum: values }] of Object.entries(status)) {
    if (type === "integer") return { [name]: 5 };
    if (type === "boolean") return { [name]: true };
    if (format === "byte") return { [name]: "eA==" };
    if (type === "string") return { [name]: (values as unknown[] | undefined)?.at(-1) ?? "x" };
  }
  if ("conditions" in status) {
    const lastTransitionTime = "2026-01-01T00:00:00Z";
    const condition = { type: "Sample", status: "True", reason: "Sample", lastTransitionTime };
    return { conditions: [{ ...condition, message: "sample" }] };
  }
  if ("loadBalancer" in status) return { loadBalancer: { ingress: [{ ip: "192.0.2.9" }] } };
  return undefined;
}
