import { StatusError } from "@keelson/kube";
import type { Page, Row } from "@keelson/store";

import { listOptions } from "../reads/list-options.ts";
import { continueToken } from "../reads/continue-token.ts";
import { deleteObject } from "../writes/delete-object.ts";
import { sentDeleteOptions } from "./delete.ts";
import { listAnswer, readList } from "./list.ts";
import { formatFor, type Verb } from "./verb.ts";
import { writeRequest } from "./write-options.ts";

/** How many objects are read at a time, and how many of them are deleted at once. */
const pageSize = 500;
const atOnce = 32;

/** Deletes whatever the selectors choose, object by object, each by the rules of its own deletion (KB 38). */
export const deleteCollection: Verb = async (verbs, exchange) => {
  const { resource, info, query, signal } = exchange;
  const format = formatFor(exchange);
  const asked = listOptions(resource, query, { isWatch: false, name: "" });
  const options = sentDeleteOptions(verbs, exchange);
  const request = writeRequest(exchange, { manager: "", isDryRun: options.isDryRun });

  const remove = async (row: Row): Promise<void> => {
    const { namespace, name } = row.key;
    try {
      await deleteObject(verbs, { ...request, namespace, name }, options, signal);
    } catch (error) {
      // Somebody else was faster.
      if (!(error instanceof StatusError) || error.status.reason !== "NotFound") throw error;
    }
  };

  const items: Row[] = [];
  let page: Page | undefined;
  let next = asked.continue;
  do {
    const limit = asked.limit > 0 ? asked.limit : pageSize;
    const isFirst = page === undefined;
    const narrowed = isFirst
      ? { ...asked, limit, continue: next }
      : { ...asked, limit, continue: next, resourceVersion: "", match: undefined };
    const read: Page = await readList(verbs, exchange, narrowed);
    page ??= read;
    for (const row of read.items) items.push(row);
    for (let start = 0; start < read.items.length; start += atOnce) {
      throwFirst(await Promise.allSettled(read.items.slice(start, start + atOnce).map(remove)));
    }
    const where = { isNamespaced: resource.isNamespaced, namespace: info.namespace };
    next = read.continue === undefined ? "" : continueToken(read.continue, where);
    if (asked.limit > 0) return listAnswer(verbs, exchange, format, read);
  } while (next !== "");
  return listAnswer(verbs, exchange, format, { items, revision: page.revision });
};

/** Who is told of a failure hears of the first in the list's order, whichever failed first. */
function throwFirst(outcomes: readonly PromiseSettledResult<void>[]): void {
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") throw outcome.reason;
  }
}
