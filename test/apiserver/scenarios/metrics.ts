// What a server says of itself.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A server by where its data is. */
interface Measured {
  readonly dataDir: string;
}

/** One line of `/metrics`. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Every line of `/metrics` at this address. */
export async function samplesAt(
  metricsUrl: string,
  signal: AbortSignal,
): Promise<readonly Sample[]> {
  const text = await (await fetch(new URL("/metrics", metricsUrl), { signal })).text();
  return text.split("\n").flatMap((line) => sampleOf(line) ?? []);
}

/** What a server shows at one moment. A histogram is two metrics, `_count` and `_sum`. */
export class Readings {
  readonly #samples: readonly Sample[];

  constructor(samples: readonly Sample[]) {
    this.#samples = samples;
  }

  /** The series of a metric. */
  of(name: string): readonly Sample[] {
    return this.#samples.filter((one) => one.name === name);
  }

  /** The value of the series with these labels and no others; undefined: it is absent. */
  value(name: string, labels: Sample["labels"] = {}): number | undefined {
    const wanted = Object.entries(labels);
    return this.of(name).find(
      (one) =>
        Object.keys(one.labels).length === wanted.length &&
        wanted.every(([label, value]) => one.labels[label] === value),
    )?.value;
  }

  /** The sum of a metric over all series of which `isWanted` holds. */
  sum(name: string, isWanted: (labels: Sample["labels"]) => boolean = () => true): number {
    const wanted = this.of(name).filter(({ labels }) => isWanted(labels));
    return wanted.reduce((sum, { value }) => sum + value, 0);
  }
}

export async function readingsOf(server: Measured, signal: AbortSignal): Promise<Readings> {
  return new Readings(await allOf(server, signal));
}

/** Everything that the server shows. Lines of a histogram have its name; only its count is among them. */
export async function metricsOf(server: Measured, signal: AbortSignal): Promise<readonly Sample[]> {
  return (await allOf(server, signal))
    .filter(({ name }) => !/_(?:bucket|sum)$/.test(name))
    .map(({ name, ...rest }) => ({ ...rest, name: name.replace(/_count$/, "") }));
}

/** The sum of a metric over all its labels; undefined if the server does not have it. */
export async function metricOf(
  server: Measured,
  name: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const samples = (await metricsOf(server, signal)).filter((one) => one.name === name);
  if (samples.length === 0) return undefined;
  return samples.reduce((sum, { value }) => sum + value, 0);
}

async function allOf({ dataDir }: Measured, signal: AbortSignal): Promise<readonly Sample[]> {
  const { metrics } = JSON.parse(readFileSync(join(dataDir, "run.json"), "utf8")) as {
    metrics: string;
  };
  return await samplesAt(metrics, signal);
}

function sampleOf(line: string): Sample | undefined {
  const [, name = "", pairs = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (value === undefined) return undefined;
  const labels = [...pairs.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = "", text = ""]): [string, string] => [label, text],
  );
  return { name, labels: Object.fromEntries(labels), value: Number(value) };
}
