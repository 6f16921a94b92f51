// docs/reference/metrics.md: every metric that a source declares, by package.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface DeclaredMetric {
  readonly part: string;
  readonly kind: string;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const call = /\.(counter|gauge|histogram)\(\{/g;
const declaration =
  /\.(counter|gauge|histogram)\(\{\s*name: "([^"]+)",\s*help:\s*"((?:[^"\\]|\\.)*)",(?:\s*labels: (\w+|\[[^\]]*\]))?/y;

/** Throws where one is not declared by literals: its name could not be searched for. */
export function declaredMetrics(root: string): readonly DeclaredMetric[] {
  const files = globSync("packages/*/src/**/*.ts", { cwd: root })
    .filter((path) => !path.endsWith(".test.ts") && !path.includes("/testing/"))
    .toSorted();
  return files.flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    return [...text.matchAll(call)].map(({ index }) => {
      declaration.lastIndex = index;
      const found = declaration.exec(text);
      if (found === null) throw new Error(`${path}: name and help of a metric must be literals`);
      const [, kind = "", name = "", help = "", labels = ""] = found;
      const list = labels.startsWith("[")
        ? labels
        : (new RegExp(`const ${labels} = (\\[[^\\]]*\\])`).exec(text)?.[1] ?? "");
      return {
        part: path.split("/")[1] ?? "",
        kind,
        name,
        help: JSON.parse(`"${help}"`) as string,
        labels: [...list.matchAll(/"(\w+)"/g)].map(([, label = ""]) => label),
      };
    });
  });
}

export function metricsPage(root: string): string {
  const metrics = declaredMetrics(root);
  const parts = [...new Set(metrics.map(({ part }) => part))];
  const tables = parts.map((part) => {
    const rows = metrics
      .filter((metric) => metric.part === part)
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, kind, labels, help }) => {
        const labelled = labels.map((label) => `\`${label}\``).join(", ");
        return `| \`${name}\` | ${kind} | ${labelled} | ${help} |`;
      });
    return [
      `## ${part}`,
      "",
      "| metric | kind | labels | meaning |",
      "|---|---|---|---|",
      ...rows,
    ].join("\n");
  });
  return `# Metrics

At \`/metrics\` of the metrics listener (\`KEELSON_METRICS_PORT\`, 8081), in the text format of Prometheus, besides those of Node's process
(\`process_…\`, \`nodejs_…\`). A process shows those of the parts that run in it; those of \`sdk\` are in the processes of controllers. Histograms are
in seconds unless their names say otherwise.

${tables.join("\n\n")}
`;
}
