// What is told of every finished request: to the metrics, and to the audit.

import { attributesOf, type Handled } from "./api-handler.ts";
import type { Audit } from "./audit.ts";
import { header } from "./http/exchange.ts";
import type { Finished } from "./http/server.ts";
import type { ApiMetrics } from "./metrics.ts";
import type { Registry } from "./resources/registry.ts";

/** Tells both. Labels are those of resources that are served: what clients make up is one series. */
export function finishedRequests({
  metrics,
  registry,
  audit,
}: {
  readonly metrics: ApiMetrics;
  readonly registry: Registry;
  readonly audit: Audit | undefined;
}): (finished: Finished) => void {
  return ({ handled, incoming, code, durationMs, startedAtMs, sourceAddress }) => {
    const labels = { ...labelsOf(handled, registry), code: String(code) };
    metrics.requests.add(labels);
    if (labels.verb !== "watch") metrics.requestSeconds.observe(labels, durationMs / 1000);
    const { user, asker, constraint, info } = handled;
    audit?.({
      auditId: incoming.auditId,
      user: asker,
      ...(user === asker ? {} : { impersonated: { user, constraint } }),
      attributes: attributesOf(info),
      path: info.path,
      code,
      startedAtMs,
      durationMs,
      userAgent: header(incoming, "user-agent"),
      sourceAddress,
    });
  };
}

function labelsOf({ info }: Handled, registry: Registry) {
  const nothing = { verb: "", group: "", version: "", resource: "", subresource: "" };
  if (!info.isResource) return { ...nothing, verb: info.verb === "get" ? "get" : "other" };
  const { verb, group, version, resource, subresource } = info;
  const served = registry.find(group, version, resource);
  if (served === undefined) return { ...nothing, verb };
  const isKnown = served.subresources.some(({ name }) => name === subresource);
  return { verb, group, version, resource, subresource: isKnown ? subresource : "" };
}
