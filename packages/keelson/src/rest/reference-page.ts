// The document of the API in Markdown: `docs/reference/rest.md` is what this gives for a server with all its parts.

import { restErrorStatus } from "@keelson/base";
import type { PageDocument } from "./api-page.ts";
import { fieldsOf, parametersIn, type Field } from "./schema-fields.ts";

type Operation = PageDocument["paths"][string][string];

export function restReference({ paths }: PageDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const parts = [...new Set(operations.flatMap(({ operation }) => operation.tags))].toSorted();
  const sections = parts.flatMap((part) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(part));
    return [`## ${part[0]?.toUpperCase()}${part.slice(1)}`, ...own.map(section)];
  });
  const codes = Object.entries(restErrorStatus).map(
    ([code, status]) => `| \`${code}\` | ${status} |`,
  );
  return [
    "# REST API",
    "A server tells the same of itself: for people at `/api/v1/docs`, for programs at `/api/v1/openapi.json`.",
    ...sections,
    "## Refusals",
    'They have one shape, `{"error": "a sentence", "code": "FOR_PROGRAMS", "details": {"fields": [{"field", "message"}]}}`, whatever was asked. The code decides the status.',
    ["| code | status |", "|---|---|", ...codes].join("\n"),
  ].join("\n\n");
}

function section({
  path,
  method,
  operation: { summary = "", parameters = [], requestBody, responses },
}: {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}): string {
  const body = requestBody?.content["application/json"]?.schema;
  const answers = Object.entries(responses)
    .filter(([status]) => status !== "default")
    .map(([status, { content }]) => {
      const [mediaType] = Object.keys(content ?? {});
      return mediaType === undefined || mediaType === "application/json"
        ? status
        : `${status} as ${mediaType}`;
    });
  return [
    `### ${method.toUpperCase()} ${path}`,
    `${sentence(summary)} Answers ${answers.join(", ")}.`,
    ...table("query", parametersIn("query", parameters)),
    ...table("header", parametersIn("header", parameters)),
    ...table("body", body === undefined ? [] : fieldsOf(body)),
  ].join("\n\n");
}

function sentence(words: string): string {
  return words === "" ? "" : `${words[0]?.toUpperCase()}${words.slice(1)}.`;
}

function table(heading: string, fields: readonly Field[]): readonly string[] {
  if (fields.length === 0) return [];
  const rows = fields.map(({ path, type, isRequired, description }) => {
    const name = `\`${path === "" ? "(the value)" : path}\`${isRequired ? ", required" : ""}`;
    return `| ${[name, type, description].map(cell).join(" | ")} |`;
  });
  return [[`| ${heading} | type | meaning |`, "|---|---|---|", ...rows].join("\n")];
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
