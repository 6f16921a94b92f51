import assert from "node:assert/strict";

import type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  LabelledCounter,
  LabelledGauge,
  LabelledHistogram,
  LabelledOptions,
  Labels,
  MetricOptions,
  Metrics,
  SingleCounter,
  SingleGauge,
  SingleHistogram,
} from "../metrics.ts";

/** Metrics that a test can read. Misuse fails at once: unknown or missing labels, a counter that falls. */
export class RecordingMetrics implements Metrics {
  readonly #families = new Map<string, Family>();

  counter<const L extends string>(options: LabelledOptions<L>): Counter<L>;
  counter(options: MetricOptions): Counter;
  counter(options: MetricOptions): SingleCounter | LabelledCounter<string> {
    const family = this.#declare("counter", options);
    const on = (labels: Labels<string>): SingleCounter => {
      const series = family.series(labels);
      series.value ??= 0;
      return {
        add: (value = 1) => {
          assert.ok(value >= 0, `counter ${options.name} cannot fall by ${-value}`);
          series.value = (series.value ?? 0) + value;
        },
      };
    };
    if (!family.labelled) return on({});
    return {
      add: (labels, value) => on(labels).add(value),
      remove: (labels) => family.forget(labels),
      with: on,
    };
  }

  gauge<const L extends string>(options: LabelledOptions<L>): Gauge<L>;
  gauge(options: MetricOptions): Gauge;
  gauge(options: MetricOptions): SingleGauge | LabelledGauge<string> {
    const family = this.#declare("gauge", options);
    const on = (labels: Labels<string>): SingleGauge => {
      const series = family.series(labels);
      return {
        set: (value) => void (series.value = value),
        add: (value = 1) => void (series.value = (series.value ?? 0) + value),
        remove: () => void (series.value = undefined),
      };
    };
    if (!family.labelled) return on({});
    return {
      set: (labels, value) => on(labels).set(value),
      add: (labels, value) => on(labels).add(value),
      remove: (labels) => on(labels).remove(),
      with: on,
    };
  }

  histogram<const L extends string>(options: LabelledOptions<L> & HistogramOptions): Histogram<L>;
  histogram(options: MetricOptions & HistogramOptions): Histogram;
  histogram(options: MetricOptions): SingleHistogram | LabelledHistogram<string> {
    const family = this.#declare("histogram", options);
    const on = (labels: Labels<string>): SingleHistogram => {
      const series = family.series(labels);
      series.value ??= 0;
      return {
        observe: (value) => {
          series.observations.push(value);
          series.value = series.observations.length;
        },
      };
    };
    if (!family.labelled) return on({});
    return {
      observe: (labels, value) => on(labels).observe(value),
      remove: (labels) => family.forget(labels),
      with: on,
    };
  }

  /**
   * The value of a counter or gauge, the number of observations of a histogram; `undefined` when the series is
   * absent. Fails for a metric that nobody declared.
   */
  value(name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
    return this.#family(name).series(labels).value;
  }

  /** What a histogram observed, in order. */
  observations(name: string, labels: Readonly<Record<string, string>> = {}): readonly number[] {
    return this.#family(name).series(labels).observations;
  }

  /** The names of all metrics, in the order of their declaration. */
  get names(): string[] {
    return [...this.#families.keys()];
  }

  #declare(kind: Kind, options: MetricOptions & { readonly labels?: readonly string[] }): Family {
    const { name, labels } = options;
    const known = this.#families.get(name);
    if (known === undefined) {
      const family = new Family(kind, name, labels);
      this.#families.set(name, family);
      return family;
    }
    assert.deepEqual(
      { kind, labels: labels ?? [] },
      { kind: known.kind, labels: known.labels },
      `${name} is declared twice, differently`,
    );
    return known;
  }

  #family(name: string): Family {
    const family = this.#families.get(name);
    assert.ok(family !== undefined, `no metric ${name} is declared`);
    return family;
  }
}

type Kind = "counter" | "gauge" | "histogram";

interface Series {
  value: number | undefined;
  readonly observations: number[];
}

/** A metric with all its series. */
class Family {
  readonly kind: Kind;
  readonly labelled: boolean;
  readonly labels: readonly string[];
  readonly #name: string;
  readonly #series = new Map<string, Series>();

  constructor(kind: Kind, name: string, labels: readonly string[] | undefined) {
    this.kind = kind;
    this.labelled = labels !== undefined;
    this.labels = labels ?? [];
    this.#name = name;
  }

  series(labels: Readonly<Record<string, string>>): Series {
    assert.deepEqual(
      Object.keys(labels).sort(),
      [...this.labels].sort(),
      `${this.#name} has other labels`,
    );
    const key = this.#key(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const fresh: Series = { value: undefined, observations: [] };
    this.#series.set(key, fresh);
    return fresh;
  }

  forget(labels: Readonly<Record<string, string>>): void {
    this.#series.delete(this.#key(labels));
  }

  #key(labels: Readonly<Record<string, string>>): string {
    return JSON.stringify(this.labels.map((label) => labels[label]));
  }
}
