// Holds what the API is sent and answers against the document that it gives of itself.

import assert from "node:assert/strict";
import type { ApiDocument } from "@keelson/keelson";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Content = Readonly<Record<string, { readonly schema: object }>>;

interface Operation {
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface Answered {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly code: number;
  readonly body: unknown;
  /** What was sent, if it is to be checked as well. */
  readonly sent?: unknown;
}

/**
 * Throws for an answer that the document does not know: its route, its status, or what it holds; and for a body that was
 * taken and should not have been, by the document.
 */
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

  const checkOf = (key: string, schema: object): ValidateFunction => {
    const check = checks.get(key) ?? ajv.compile(schema);
    checks.set(key, check);
    return check;
  };

  return ({ method, path, code, body, sent }) => {
    const words = `${method} ${path} answered ${code}`;
    const valid = (check: ValidateFunction, what: unknown): void =>
      assert.ok(check(what), `${words}: ${ajv.errorsText(check.errors)}\n${JSON.stringify(what)}`);
    if (code >= 400) return valid(refusal, body);
    const template = templates.find(({ pattern }) => pattern.test(path))?.template ?? "";
    const operation = paths[template]?.[method.toLowerCase()];
    const documented = operation?.responses[String(code)];
    assert.ok(documented !== undefined, `${words}, which is not documented`);
    const schema = documented.content?.["application/json"]?.schema;
    if (schema !== undefined) valid(checkOf(`${method} ${template} ${code}`, schema), body);
    const request = operation?.requestBody?.content["application/json"]?.schema;
    if (sent === undefined) return;
    assert.ok(request !== undefined, `${words}, and takes no body by the document`);
    valid(checkOf(`${method} ${template}`, request), sent);
  };
}
