// The document of the API as a page to read: no script, nothing from elsewhere.

import { restErrorStatus, type Json } from "@keelson/base";
import { fieldsOf, parametersIn, type Field } from "./schema-fields.ts";

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
    return `<h2 id="${escaped(tag)}">${escaped(tag)}</h2>\n${own.map(shown).join("\n")}`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(info.title)} API</title>
<style>
  :root { color-scheme: light dark }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
  code { font-size: 0.95em } h2 { margin-top: 2.5rem } h3 { font-size: 1rem; margin: 1rem 0 0.25rem }
  details { border-top: 1px solid #8884 } details[open] { padding-bottom: 1.5rem }
  summary { cursor: pointer; padding: 0.4rem 0; overflow-wrap: anywhere }
  .method { display: inline-block; min-width: 4.5rem; font-weight: 600; text-transform: uppercase }
  .table { overflow-x: auto } table { border-collapse: collapse; width: 100% }
  th, td { text-align: left; vertical-align: top; padding: 0.2rem 1.5rem 0.2rem 0; border-bottom: 1px solid #8882 }
  th { font-weight: 600 } td:first-child { white-space: nowrap }
  @media (max-width: 45rem) { td { overflow-wrap: anywhere; padding-right: 0.75rem } td:first-child { white-space: normal } }
</style>
<h1>${escaped(info.title)} ${escaped(info.version)}</h1>
<p>The same for programs: <a href="openapi.json"><code>openapi.json</code></a>.</p>
<p>${tags.map((tag) => `<a href="#${escaped(tag)}">${escaped(tag)}</a>`).join(" · ")} · <a href="#refusals">refusals</a></p>
${parts.join("\n")}
<h2 id="refusals">refusals</h2>
<p>They have one shape, whatever was asked. The code decides the status.</p>
${fieldTable(fieldsOf(components.schemas.Error).filter(({ path }) => path !== "code"))}
${table(
  ["Code", "Status"],
  Object.entries(restErrorStatus).map(([code, status]) => [
    `<code>${escaped(code)}</code>`,
    String(status),
  ]),
)}
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
  const body = requestBody?.content["application/json"]?.schema;
  const answers = Object.entries(responses)
    .filter(([status]) => status !== "default")
    .map(([status, { content }]) => {
      const [mediaType, answered] = Object.entries(content ?? {})[0] ?? [];
      const as = mediaType === undefined || mediaType === "application/json" ? "" : ` ${mediaType}`;
      const told = answered === undefined ? "" : fieldTable(fieldsOf(answered.schema));
      return `<h3>Answers ${escaped(status + as)}</h3>${told}`;
    });
  return [
    `<details><summary><span class="method">${escaped(method)}</span> <code>${escaped(path)}</code>`,
    summary === undefined ? "" : ` ${escaped(summary)}`,
    "</summary>",
    section("Query", parametersIn("query", parameters)),
    section("Headers", parametersIn("header", parameters)),
    section("Body", body === undefined ? [] : fieldsOf(body)),
    ...answers,
    "</details>",
  ].join("");
}

function section(heading: string, fields: readonly Field[]): string {
  return fields.length === 0 ? "" : `<h3>${heading}</h3>${fieldTable(fields)}`;
}

function fieldTable(fields: readonly Field[]): string {
  const rows = fields.map(({ path, type, isRequired, description }) => [
    `<code>${escaped(path === "" ? "(the value)" : path)}</code>${isRequired ? "" : " (optional)"}`,
    escaped(type),
    escaped(description),
  ]);
  return table(["Field", "Type", "Meaning"], rows);
}

/** Cells are HTML. A column without a word is left out. */
function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = headings.map((_, column) => rows.some((row) => row[column] !== ""));
  const line = (cells: readonly string[], tag: string): string =>
    `<tr>${cells
      .filter((_, column) => shown[column])
      .map((cell) => `<${tag}>${cell}</${tag}>`)
      .join("")}</tr>`;
  return `<div class="table"><table>${line(headings, "th")}${rows.map((row) => line(row, "td")).join("")}</table></div>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
