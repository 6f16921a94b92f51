// Metrics as prom-client's registry prints them. Every request adds to four or five series, and with the library's own,
// which look a series up by a text of its labels each time, that was a twentieth of a read.

import type { Labels, SingleCounter, SingleGauge, SingleHistogram } from "@keelson/base";

interface Named {
  readonly name: string;
  readonly help: string;
}

/** A metric as the registry asks for it. */
interface Printed extends Named {
  readonly type: "counter" | "gauge" | "histogram";
  readonly values: readonly Value[];
}

interface Value {
  /** The metric's own unless told. */
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** A counter with all its series. */
export class Counters {
  readonly name: string;
  readonly #help: string;
  readonly #series = new SeriesByLabels(() => new CounterSeries());

  constructor({ name, help }: Named) {
    this.name = name;
    this.#help = help;
  }

  /** The series of these labels; it exists from here on, at zero. */
  with(labels: Labels<string>): SingleCounter {
    return this.#series.of(labels);
  }

  remove(labels: Labels<string>): void {
    this.#series.remove(labels);
  }

  async get(): Promise<Printed> {
    const values = this.#series.all.map(([labels, { value }]) => ({ labels, value }));
    return { name: this.name, help: this.#help, type: "counter", values };
  }
}

/** A gauge with all its series. */
export class Gauges {
  readonly name: string;
  readonly #help: string;
  readonly #series = new SeriesByLabels(() => new GaugeSeries());

  constructor({ name, help }: Named) {
    this.name = name;
    this.#help = help;
  }

  /** The series of these labels; it is absent until it is set. */
  with(labels: Labels<string>): SingleGauge {
    return this.#series.of(labels);
  }

  async get(): Promise<Printed> {
    const values = this.#series.all.flatMap(([labels, { value }]) =>
      value === undefined ? [] : [{ labels, value }],
    );
    return { name: this.name, help: this.#help, type: "gauge", values };
  }
}

/** A histogram with all its series. */
export class Histograms {
  readonly name: string;
  readonly #help: string;
  readonly #series: SeriesByLabels<HistogramSeries>;

  /** `bounds` rise. */
  constructor({ name, help, bounds }: Named & { readonly bounds: readonly number[] }) {
    this.name = name;
    this.#help = help;
    this.#series = new SeriesByLabels(() => new HistogramSeries(bounds));
  }

  /** The series of these labels; it exists from here on, empty. */
  with(labels: Labels<string>): SingleHistogram {
    return this.#series.of(labels);
  }

  remove(labels: Labels<string>): void {
    this.#series.remove(labels);
  }

  async get(): Promise<Printed> {
    const values = this.#series.all.flatMap(([labels, series]) => series.print(this.name, labels));
    return { name: this.name, help: this.#help, type: "histogram", values };
  }
}

class CounterSeries implements SingleCounter {
  value = 0;

  add(value = 1): void {
    if (value < 0) throw new RangeError("a counter never falls");
    this.value += value;
  }
}

class GaugeSeries implements SingleGauge {
  value: number | undefined;

  set(value: number): void {
    this.value = value;
  }

  add(value = 1): void {
    this.value = (this.value ?? 0) + value;
  }

  remove(): void {
    this.value = undefined;
  }
}

class HistogramSeries implements SingleHistogram {
  readonly #bounds: readonly number[];
  /** Of each bucket alone; the last is beyond all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  print(name: string, labels: Labels<string>): readonly Value[] {
    let count = 0;
    const buckets = this.#counts.map((own, index) => {
      count += own;
      const le = this.#bounds[index] ?? "+Inf";
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** Series, each made when it is first asked for. */
class SeriesByLabels<Series> {
  readonly #make: () => Series;
  readonly #kept = new Map<string, readonly [Labels<string>, Series]>();

  constructor(make: () => Series) {
    this.#make = make;
  }

  get all(): readonly (readonly [Labels<string>, Series])[] {
    return [...this.#kept.values()];
  }

  remove(labels: Labels<string>): void {
    this.#kept.delete(idOf(labels));
  }

  of(labels: Labels<string>): Series {
    const id = idOf(labels);
    let kept = this.#kept.get(id);
    if (kept === undefined) {
      kept = [labels, this.#make()];
      this.#kept.set(id, kept);
    }
    return kept[1];
  }
}

function idOf(labels: Labels<string>): string {
  const names = Object.keys(labels).sort();
  return JSON.stringify(names.map((name) => [name, labels[name]]));
}
