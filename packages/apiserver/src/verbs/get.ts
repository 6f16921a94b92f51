import { failures } from "@keelson/kube";

import { revisionFrom } from "../reads/list-options.ts";
import { waitForRevision } from "../reads/wait-for-revision.ts";
import { isTrue } from "../http/query-values.ts";
import { keyOf } from "../writes/write-request.ts";
import { formatFor, objectAnswer, type Verb } from "./verb.ts";

/** Answers one object. A revision only says how new it must be at least. */
export const get: Verb = async (verbs, exchange) => {
  const { resource, info, query, signal } = exchange;
  const format = formatFor(exchange);
  // KB 40: what it did is long gone.
  if (isTrue(query.get("export"))) {
    throw failures.badRequest(
      "the export parameter, deprecated since v1.14, is no longer supported",
    );
  }
  const atLeast = revisionFrom(query.get("resourceVersion") ?? "");
  const { namespace, name } = info;
  if (atLeast !== undefined) await waitForRevision(verbs, atLeast, signal);
  const row = await verbs.store.get(keyOf({ resource, namespace, name }), signal);
  return objectAnswer(verbs, exchange, format, {
    code: 200,
    body: row.body,
    revision: row.revision,
  });
};
