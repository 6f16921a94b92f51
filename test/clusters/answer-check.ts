// Holds what the API answers against the document that it gives of itself.

import assert from "node:assert/strict";
import type { ApiDocument } from "@keelson/keelson";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}

export interface Answered {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly code: number;
  readonly body: unknown;
}

/** Throws for an answer that the document does not know: its route, its status, or what it holds. */
export function answerCheck(document: ApiDocument): (answer: Answered) => void {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const checks = new Map<string, ValidateFunction>();
  const { paths, components } = document.document() as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: { readonly schemas: { readonly Error: object } };
  };
  const refusal = ajv.compile(components.schemas.Error);
  const templates = Object.keys(paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));

  return ({ method, path, code, body }) => {
    const words = `${method} ${path} answered ${code}`;
    const valid = (check: ValidateFunction): void =>
      assert.ok(check(body), `${words}: ${ajv.errorsText(check.errors)}\n${JSON.stringify(body)}`);
    if (code >= 400) return valid(refusal);
    const template = templates.find(({ pattern }) => pattern.test(path))?.template ?? "";
    const operation = paths[template]?.[method.toLowerCase()];
    const documented = operation?.responses[String(code)];
    assert.ok(documented !== undefined, `${words}, which is not documented`);
    const schema = documented.content?.["application/json"]?.schema;
    if (schema === undefined) return;
    const key = `${method} ${template} ${code}`;
    const check = checks.get(key) ?? ajv.compile(schema);
    checks.set(key, check);
    valid(check);
  };
}
