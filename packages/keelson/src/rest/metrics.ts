import type { Metrics, SingleHistogram } from "@keelson/base";

/** What the REST server counts. */
export interface RestMetrics {
  /** One answered request. `route` is the pattern, undefined for a path that has none. */
  answered(request: {
    readonly method: string;
    readonly route: string | undefined;
    readonly status: number;
    readonly seconds: number;
  }): void;
}

export function restMetrics(metrics: Metrics): RestMetrics {
  const seconds = metrics.histogram({
    name: "keelson_http_request_seconds",
    help: "Time from a request's arrival to the end of its answer",
    labels: ["method", "route", "code"],
  });
  // Looking a series up by its labels costs more than the rest; routes and codes are few.
  const series = new Map<string, SingleHistogram>();
  return {
    answered: ({ method, route = "unknown", status, seconds: elapsed }) => {
      const name = `${status} ${method} ${route}`;
      let one = series.get(name);
      if (one === undefined) {
        const known = methods.has(method) ? method : "other";
        one = seconds.with({ method: known, route, code: String(status) });
        if (series.size < seriesMax) series.set(name, one);
      }
      one.observe(elapsed);
    },
  };
}

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const seriesMax = 10_000;
