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

/** Everything that the server shows. Lines of a histogram have its name; only its count is among them. */
export async function metricsOf(
  { dataDir }: Measured,
  signal: AbortSignal,
): Promise<readonly Sample[]> {
  const { metrics } = JSON.parse(readFileSync(join(dataDir, "run.json"), "utf8")) as {
    metrics: string;
  };
  return (await samplesAt(metrics, signal))
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

function sampleOf(line: string): Sample | undefined {
  const [, name = "", pairs = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (value === undefined) return undefined;
  const labels = [...pairs.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = "", text = ""]): [string, string] => [label, text],
  );
  return { name, labels: Object.fromEntries(labels), value: Number(value) };
}
