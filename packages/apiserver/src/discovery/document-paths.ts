// Documents as answers to requests.

import { failures } from "@keelson/kube";

import type { PathHandler } from "../api-handler.ts";
import { header } from "../http/exchange.ts";
import type { DocumentAnswer, DocumentRequest } from "./document.ts";

interface Documents {
  answer(request: DocumentRequest): DocumentAnswer | undefined;
}

/** Answers GETs of whatever one of these has. */
export function documentPaths(all: readonly Documents[]): PathHandler {
  return (exchange) => {
    const { method, path, query } = exchange;
    const ifNoneMatch = header(exchange, "if-none-match");
    const request: DocumentRequest = {
      path,
      accept: header(exchange, "accept"),
      ...(ifNoneMatch === "" ? {} : { ifNoneMatch }),
      hash: query.get("hash") ?? undefined,
    };
    for (const documents of all) {
      const found = documents.answer(request);
      if (found === undefined) continue;
      const isRead = method === "GET" || method === "HEAD";
      // Some are answered whatever the method, as ever.
      if (!isRead && !/^\/(?:apis\/?|openapi\/v[23])?$/.test(path))
        throw failures.methodNotAllowed();
      const { "content-type": contentType = "", ...headers } = found.headers;
      return { code: found.status, contentType, body: found.body, headers };
    }
    return undefined;
  };
}
