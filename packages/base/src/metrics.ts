// The shapes of metrics. `base` runs anywhere, so what keeps and serves them is bound elsewhere.

/**
 * Where metrics are declared, once per process and package.
 *
 * Declaring one again with the same kind and labels gives the same metric; with others it throws. A metric
 * without labels exists from its declaration, counters and histograms at zero.
 */
export interface Metrics {
  counter<const L extends string>(options: LabelledOptions<L>): Counter<L>;
  counter(options: MetricOptions): Counter;

  gauge<const L extends string>(options: LabelledOptions<L>): Gauge<L>;
  gauge(options: MetricOptions): Gauge;

  histogram<const L extends string>(options: LabelledOptions<L> & HistogramOptions): Histogram<L>;
  histogram(options: MetricOptions & HistogramOptions): Histogram;
}

export interface MetricOptions {
  /** `keelson_<package>_<thing>_<unit>`, unless a contract names it. */
  readonly name: string;
  /** A sentence for whoever reads the dashboard. */
  readonly help: string;
}

export interface LabelledOptions<L extends string> extends MetricOptions {
  /**
   * The names of the labels. Their values come from closed sets, never from an object's name; where a contract wants
   * such a name, whoever sets it removes the series with the object.
   */
  readonly labels: readonly L[];
}

export interface HistogramOptions {
  /** The upper bounds of the buckets, rising. Left out: bounds for seconds, from milliseconds to tens of seconds. */
  readonly buckets?: readonly number[];
}

/** A value for each label. */
export type Labels<L extends string> = Readonly<Record<L, string>>;

/** A number that only rises. With labels `L`, every call names them; without, none does. */
export type Counter<L extends string = never> = [L] extends [never]
  ? SingleCounter
  : LabelledCounter<L>;

/** A number that rises and falls. One that does not apply is absent, never stale. */
export type Gauge<L extends string = never> = [L] extends [never] ? SingleGauge : LabelledGauge<L>;

/** How observations are distributed. */
export type Histogram<L extends string = never> = [L] extends [never]
  ? SingleHistogram
  : LabelledHistogram<L>;

export interface SingleCounter {
  /** Adds `value`, 1 unless told. Never negative. */
  add(value?: number): void;
}

export interface LabelledCounter<L extends string> {
  /** Adds `value`, 1 unless told, to the series of these labels. Never negative. */
  add(labels: Labels<L>, value?: number): void;

  /** Makes the series of these labels absent: what it counted is gone. It counts from zero if it comes again. */
  remove(labels: Labels<L>): void;

  /** The series of these labels, to be kept where it is used often. It exists from here on, at zero. */
  with(labels: Labels<L>): SingleCounter;
}

export interface SingleGauge {
  set(value: number): void;

  /** Adds `value`, 1 unless told; an absent gauge counts from zero. Negative falls. */
  add(value?: number): void;

  /** Makes it absent until it is set again. */
  remove(): void;
}

export interface LabelledGauge<L extends string> {
  set(labels: Labels<L>, value: number): void;

  /** Adds `value`, 1 unless told; an absent series counts from zero. Negative falls. */
  add(labels: Labels<L>, value?: number): void;

  /** Makes the series of these labels absent until it is set again. */
  remove(labels: Labels<L>): void;

  /** The series of these labels, to be kept where it is used often. It is absent until it is set. */
  with(labels: Labels<L>): SingleGauge;
}

export interface SingleHistogram {
  observe(value: number): void;
}

export interface LabelledHistogram<L extends string> {
  observe(labels: Labels<L>, value: number): void;

  /** Makes the series of these labels absent: what it observed is gone. It is empty if it comes again. */
  remove(labels: Labels<L>): void;

  /** The series of these labels, to be kept where it is used often. It exists from here on, empty. */
  with(labels: Labels<L>): SingleHistogram;
}

/** Metrics that keep nothing. */
export const noMetrics: Metrics = {
  counter: () => nothing,
  gauge: () => nothing,
  histogram: () => nothing,
};

const nothing: SingleCounter &
  SingleGauge &
  SingleHistogram &
  LabelledCounter<string> &
  LabelledGauge<string> &
  LabelledHistogram<string> = {
  add: () => undefined,
  set: () => undefined,
  remove: () => undefined,
  observe: () => undefined,
  with: () => nothing,
};
