// The shapes of `base`'s metrics, kept and written by prom-client.

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
import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
} from "prom-client";

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
    return this.#once("counter", options, (configuration) => {
      const metric = new PromCounter(configuration);
      if (options.labels === undefined)
        return { add: (value = 1) => metric.inc(value) } satisfies SingleCounter;
      return {
        add: (labels: Labels<string>, value = 1) => metric.inc(labels, value),
        with: (labels: Labels<string>): SingleCounter => {
          const series = metric.labels(labels);
          series.inc(0);
          return { add: (value = 1) => series.inc(value) };
        },
      };
    });
  }

  gauge<const L extends string>(options: LabelledOptions<L>): Gauge<L>;
  gauge(options: MetricOptions): Gauge;
  gauge(options: AnyOptions): unknown {
    return this.#once("gauge", options, (configuration) => {
      const metric = new PromGauge(configuration);
      const single = (labels: Labels<string>): SingleGauge => ({
        set: (value) => metric.set(labels, value),
        add: (value = 1) => metric.inc(labels, value),
        remove: () => metric.remove(labels),
      });
      if (options.labels === undefined) {
        metric.remove({}); // The library starts at zero; a gauge that nobody has set does not apply.
        return single({});
      }
      return {
        set: (labels: Labels<string>, value: number) => metric.set(labels, value),
        add: (labels: Labels<string>, value = 1) => metric.inc(labels, value),
        remove: (labels: Labels<string>) => metric.remove(labels),
        with: single,
      };
    });
  }

  histogram<const L extends string>(options: LabelledOptions<L> & HistogramOptions): Histogram<L>;
  histogram(options: MetricOptions & HistogramOptions): Histogram;
  histogram(options: AnyOptions): unknown {
    return this.#once("histogram", options, (configuration) => {
      const buckets = [...(options.buckets ?? secondsBuckets)];
      const metric = new PromHistogram({ ...configuration, buckets });
      if (options.labels === undefined) {
        return { observe: (value) => metric.observe(value) } satisfies SingleHistogram;
      }
      return {
        observe: (labels: Labels<string>, value: number) => metric.observe(labels, value),
        with: (labels: Labels<string>): SingleHistogram => {
          metric.zero(labels);
          const series = metric.labels(labels);
          return { observe: (value) => series.observe(value) };
        },
      };
    });
  }

  /** Declares it, or gives the one that was declared so before. Throws where kind or labels differ. */
  #once(
    kind: Kind,
    { name, help, labels = [] }: AnyOptions,
    make: (configuration: {
      name: string;
      help: string;
      labelNames: string[];
      registers: Registry[];
    }) => unknown,
  ): unknown {
    const shape = `${kind} {${labels.join(",")}}`;
    const known = this.#declared.get(name);
    if (known === undefined) {
      const metric = make({ name, help, labelNames: [...labels], registers: [this.#registry] });
      this.#declared.set(name, { shape, metric });
      return metric;
    }
    if (known.shape === shape) return known.metric;
    throw new Error(`metric ${name} is a ${known.shape}, and cannot be a ${shape} too`);
  }
}

/** From a millisecond to half a minute. */
const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
