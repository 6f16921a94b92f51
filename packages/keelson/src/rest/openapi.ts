// `/api/v1/openapi.json` and `/api/v1/docs`: the API as its routes describe themselves, made of the schemas that check
// requests.

import { restErrorStatus, type Json } from "@keelson/base";
import type { FastifyInstance, RouteOptions } from "fastify";
import { apiPage, pagePolicy, type PageDocument } from "./api-page.ts";
import type { DocumentedAnswer, RouteDoc } from "./route-doc.ts";

interface Operation {
  readonly part: string;
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
  readonly doc: RouteDoc | undefined;
  readonly isPublic: boolean;
}

/** Collects what is put on the server and serves the document. Before any route is added. */
export class ApiDocument {
  readonly #operations: Operation[] = [];
  readonly #version: string;
  #text: string | undefined;
  #page: string | undefined;

  constructor({ version }: { readonly version: string }) {
    this.#version = version;
  }

  /** Remembers a route of `part`. What is not below `/api/` is no part of the API. */
  add(part: string, route: RouteOptions): void {
    if (!route.url.startsWith("/api/")) return;
    const { config, schema } = route;
    for (const method of [route.method].flat()) {
      if (method === "HEAD" || method === "OPTIONS") continue;
      this.#operations.push({
        part,
        method: method.toLowerCase(),
        path: route.url.replaceAll(/:(\w+)/g, "{$1}"),
        body: (schema?.body as object | undefined) ?? config?.doc?.body,
        doc: config?.doc,
        isPublic: config?.isPublic === true,
      });
    }
  }

  /** Puts the document and the page on `app`. Both are public: they say nothing of what is stored. */
  addTo(app: FastifyInstance): void {
    const config = { isPublic: true };
    app.get("/api/v1/openapi.json", { config }, (_request, reply) => {
      this.#text ??= JSON.stringify(this.document());
      return reply.type("application/json; charset=utf-8").send(this.#text);
    });
    app.get("/api/v1/docs", { config }, (_request, reply) => {
      this.#page ??= apiPage(this.document() as unknown as PageDocument);
      reply.header("content-security-policy", pagePolicy);
      return reply.type("text/html; charset=utf-8").send(this.#page);
    });
  }

  /** OpenAPI 3.1. */
  document(): Json {
    const paths: Record<string, Record<string, Json>> = {};
    for (const operation of this.#operations) {
      (paths[operation.path] ??= {})[operation.method] = described(operation);
    }
    return {
      openapi: "3.1.0",
      info: { title: "Keelson", version: this.#version },
      servers: [{ url: "/" }],
      paths,
      components: { schemas: { Error: errorSchema } },
    };
  }
}

function described({ part, path, body, doc, isPublic }: Operation): Json {
  const answers = [doc?.success ?? { status: 200 }, ...(doc?.others ?? [])];
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    })),
    ...optionalParameters("query", doc?.query),
    ...optionalParameters("header", doc?.headers),
  ];
  return {
    tags: [part],
    ...(doc === undefined ? {} : { summary: doc.summary }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      ...Object.fromEntries(answers.map((answer) => [answer.status, answered(answer)])),
      ...(isPublic
        ? {}
        : {
            default: {
              description: "refused",
              content: json({ $ref: "#/components/schemas/Error" }),
            },
          }),
    },
  };
}

function optionalParameters(place: "query" | "header", schemas: RouteDoc["query"] = {}): Json[] {
  return Object.entries(schemas).map(([name, schema]) => {
    return { name, in: place, required: false, schema: schema as Json };
  });
}

function answered({ body, mediaType = "application/json" }: DocumentedAnswer): Json {
  const description = "done";
  if (body === undefined) return { description };
  return { description, content: { [mediaType]: { schema: body as Json } } };
}

function json(schema: object): Json {
  return { "application/json": { schema: schema as Json } };
}

const errorSchema: Json = {
  type: "object",
  required: ["error", "code", "details"],
  properties: {
    error: { type: "string", description: "for people" },
    code: { type: "string", enum: Object.keys(restErrorStatus), description: "for programs" },
    details: {
      type: "object",
      properties: {
        fields: {
          type: "array",
          items: {
            type: "object",
            required: ["field", "message"],
            properties: { field: { type: "string" }, message: { type: "string" } },
          },
        },
      },
    },
  },
};
