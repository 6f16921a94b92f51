import type { Metrics, SingleHistogram } from "@keelson/base";

/** What the REST server counts. */
export interface RestMetrics {
  /** The counting of one route, by its pattern; `unknown` for what has none. To be kept with the route. */
  ofRoute(route: string): RouteMetrics;
}

export interface RouteMetrics {
  /** One answered request. */
  answered(method: string, status: number, seconds: number): void;
}

export function restMetrics(metrics: Metrics): RestMetrics {
  const seconds = metrics.histogram({
    name: "keelson_http_request_seconds",
    help: "Time from a request's arrival to the end of its answer",
    labels: ["method", "route", "code"],
  });
  return {
    ofRoute: (route) => {
      // Looking a series up by its labels costs more than the rest of counting; a route has few.
      const byMethod = new Map(
        methods.map((method) => [method, new Map<number, SingleHistogram>()]),
      );
      const ofOthers = new Map<number, SingleHistogram>();
      return {
        answered: (method, status, elapsed) => {
          const known = byMethod.get(method);
          const byStatus = known ?? ofOthers;
          let series = byStatus.get(status);
          if (series === undefined) {
            const label = known === undefined ? "other" : method;
            series = seconds.with({ method: label, route, code: String(status) });
            byStatus.set(status, series);
          }
          series.observe(elapsed);
        },
      };
    },
  };
}

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
