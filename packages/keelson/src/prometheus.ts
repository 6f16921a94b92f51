// The shapes of `base`'s metrics, written by prom-client.

import type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  LabelledOptions,
  Labels,
  MetricOptions,
  Metrics,
  SingleCounter,
  SingleGauge,
  SingleHistogram,
} from "@keelson/base";
import { collectDefaultMetrics, Registry, type Metric } from "prom-client";
import { Counters, Gauges, Histograms } from "./metric-series.ts";

type AnyOptions = MetricOptions & Partial<LabelledOptions<string>> & HistogramOptions;
type Kind = "counter" | "gauge" | "histogram";

/** The metrics of one process. */
export class PrometheusMetrics implements Metrics {
  readonly #registry = new Registry();
  readonly #declared = new Map<string, { readonly shape: string; readonly metric: unknown }>();

  /** With the platform's own: memory, processor time, the delay of the event loop, garbage collection. */
  constructor({ withProcess }: { readonly withProcess: boolean }) {
    if (withProcess) collectDefaultMetrics({ register: this.#registry });
  }

  /** What `/metrics` answers, and its media type. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  counter<const L extends string>(options: LabelledOptions<L>): Counter<L>;
  counter(options: MetricOptions): Counter;
  counter(options: AnyOptions): unknown {
    return this.#once("counter", options, ({ name, help }) => {
      const metric = new Counters({ name, help });
      this.#register(metric);
      if (options.labels === undefined) return metric.with({});
      return {
        add: (labels: Labels<string>, value = 1) => metric.with(labels).add(value),
        remove: (labels: Labels<string>) => metric.remove(labels),
        with: (labels: Labels<string>): SingleCounter => metric.with(labels),
      };
    });
  }

  gauge<const L extends string>(options: LabelledOptions<L>): Gauge<L>;
  gauge(options: MetricOptions): Gauge;
  gauge(options: AnyOptions): unknown {
    return this.#once("gauge", options, ({ name, help }) => {
      const metric = new Gauges({ name, help });
      this.#register(metric);
      if (options.labels === undefined) return metric.with({});
      return {
        set: (labels: Labels<string>, value: number) => metric.with(labels).set(value),
        add: (labels: Labels<string>, value = 1) => metric.with(labels).add(value),
        remove: (labels: Labels<string>) => metric.with(labels).remove(),
        with: (labels: Labels<string>): SingleGauge => metric.with(labels),
      };
    });
  }

  histogram<const L extends string>(options: LabelledOptions<L> & HistogramOptions): Histogram<L>;
  histogram(options: MetricOptions & HistogramOptions): Histogram;
  histogram(options: AnyOptions): unknown {
    return this.#once("histogram", options, ({ name, help }) => {
      const metric = new Histograms({ name, help, bounds: options.buckets ?? secondsBuckets });
      this.#register(metric);
      if (options.labels === undefined) return metric.with({});
      return {
        observe: (labels: Labels<string>, value: number) => metric.with(labels).observe(value),
        remove: (labels: Labels<string>) => metric.remove(labels),
        with: (labels: Labels<string>): SingleHistogram => metric.with(labels),
      };
    });
  }

  /** The registry asks a metric for its name and what it has to print, whatever its type says. */
  #register(metric: Counters | Gauges | Histograms): void {
    this.#registry.registerMetric(metric as unknown as Metric);
  }

  /** Declares it, or gives the one that was declared so before. Throws where kind or labels differ. */
  #once(
    kind: Kind,
    { name, help, labels = [] }: AnyOptions,
    make: (named: { readonly name: string; readonly help: string }) => unknown,
  ): unknown {
    const shape = `${kind} {${labels.join(",")}}`;
    const known = this.#declared.get(name);
    if (known === undefined) {
      const metric = make({ name, help });
      this.#declared.set(name, { shape, metric });
      return metric;
    }
    if (known.shape === shape) return known.metric;
    throw new Error(`metric ${name} is a ${known.shape}, and cannot be a ${shape} too`);
  }
}

/** From a millisecond to half a minute. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
