// The document of the API as a page to read: no script, nothing from elsewhere.

import type { Json, JsonObject } from "@keelson/base";

interface Operation {
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Json;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema: Json }>>;

export interface PageDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: { readonly Error: Json } };
}

/** What a browser may do with it: show it. */
export const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'";

export function apiPage({ info, paths, components }: PageDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const tags = [...new Set(operations.flatMap(({ operation }) => operation.tags))];
  const parts = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(tag));
    return `<h2>${escaped(tag)}</h2>\n${own.map(shown).join("\n")}`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(info.title)} API</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  code { font-size: 0.95em } pre { background: #8881; padding: 0.75rem; overflow: auto }
  summary { cursor: pointer; padding: 0.25rem 0 } .method { font-weight: 600; text-transform: uppercase }
  :root { color-scheme: light dark }
</style>
<h1>${escaped(info.title)} ${escaped(info.version)}</h1>
<p>The same for programs: <a href="openapi.json"><code>openapi.json</code></a>. Refusals have one shape, whatever was asked:</p>
${schema(components.schemas.Error)}
${parts.join("\n")}
</html>
`;
}

function shown({
  path,
  method,
  operation,
}: {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}): string {
  const { summary, parameters = [], requestBody, responses } = operation;
  const asked = parameters.filter((parameter) => parameter.in === "query");
  const body = requestBody?.content["application/json"]?.schema;
  const answers = Object.entries(responses)
    .filter(([status]) => status !== "default")
    .map(([status, { content }]) => {
      const [mediaType, answered] = Object.entries(content ?? {})[0] ?? [];
      const as = mediaType === undefined || mediaType === "application/json" ? "" : ` ${mediaType}`;
      return `<p>Answers ${escaped(status + as)}</p>${answered === undefined ? "" : schema(answered.schema)}`;
    });
  return `<details><summary><span class="method">${escaped(method)}</span> <code>${escaped(path)}</code>${
    summary === undefined ? "" : ` ${escaped(summary)}`
  }</summary>${
    asked.length === 0
      ? ""
      : `<p>Query</p>${schema(Object.fromEntries(asked.map((one) => [one.name, one.schema])))}`
  }${body === undefined ? "" : `<p>Body</p>${schema(body)}`}${answers.join("")}</details>`;
}

function schema(value: Json | JsonObject): string {
  return `<pre>${escaped(JSON.stringify(value, undefined, 2))}</pre>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
