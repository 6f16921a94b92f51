// What is told of every finished request: to the metrics, and to the audit.

import type { SingleCounter, SingleHistogram } from "@keelson/base";

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
  const seriesOf = keptSeries(metrics);
  return ({ handled, incoming, code, durationMs, startedAtMs, sourceAddress }) => {
    const series = seriesOf(labelsOf(handled, registry), code);
    series.count.add();
    series.seconds?.observe(durationMs / 1000);
    if (audit === undefined) return;
    const { user, asker, constraint, info } = handled;
    audit({
      auditId: incoming.auditId,
      user: asker,
      ...(asker === undefined || user === asker ? {} : { impersonated: { user, constraint } }),
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

interface Series {
  readonly count: SingleCounter;
  readonly seconds: SingleHistogram | undefined;
}

/** The series of each set of labels, kept: finding them by their labels costs more than counting. */
function keptSeries(metrics: ApiMetrics): (labels: RequestLabels, code: number) => Series {
  const kept = new Map<string, Series>();
  return (labels, code) => {
    const { verb, group, version, resource, subresource } = labels;
    const id = `${verb} ${group}/${version}/${resource}/${subresource} ${code}`;
    let series = kept.get(id);
    if (series === undefined) {
      const all = { ...labels, code: String(code) };
      const seconds = verb === "watch" ? undefined : metrics.requestSeconds.with(all);
      series = { count: metrics.requests.with(all), seconds };
      kept.set(id, series);
    }
    return series;
  };
}

type RequestLabels = Record<"verb" | "group" | "version" | "resource" | "subresource", string>;

function labelsOf({ info }: Handled, registry: Registry): RequestLabels {
  const nothing = { verb: "", group: "", version: "", resource: "", subresource: "" };
  if (!info.isResource) return { ...nothing, verb: info.verb === "get" ? "get" : "other" };
  const { verb, group, version, resource, subresource } = info;
  const served = registry.find(group, version, resource);
  if (served === undefined) return { ...nothing, verb };
  const isKnown =
    subresource !== "" && served.subresources.some(({ name }) => name === subresource);
  return { verb, group, version, resource, subresource: isKnown ? subresource : "" };
}
