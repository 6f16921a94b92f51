// Static tokens: a CSV file of token, user, uid and groups.

import type { Log } from "@keelson/base";

import type { TokenAuthenticator } from "./token-authenticator.ts";
import { tokenHash } from "./token-hash.ts";
import type { User } from "./user.ts";

/** The file is not as it must be. Its message names the line, never a token. */
export class TokenFileError extends Error {
  override readonly name = "TokenFileError";
  readonly code = "TOKEN_FILE";
}

/**
 * The tokens of a file: `token,user,uid,"group1,group2"`, without a header line. They are good for every audience in
 * `audiences`. Throws a `TokenFileError`.
 */
export function tokenFileAuthenticator(
  text: string,
  { audiences, log }: { readonly audiences: readonly string[]; readonly log: Log },
): TokenAuthenticator {
  const users = new Map<string, User>();
  for (const [index, record] of readCsv(text).entries()) {
    const [token = "", name = "", uid = "", groups] = record;
    const line = index + 1;
    if (record.length < 3) {
      throw new TokenFileError(
        `record ${line} must have token, user and uid, not ${record.length} columns`,
      );
    }
    if (token === "") {
      log.warn({ record: line }, "the token file has an empty token");
      continue;
    }
    if (users.has(tokenHash(token))) log.warn({ record: line }, "the token file has a token twice");
    users.set(tokenHash(token), { name, uid, groups: groups?.split(",") ?? [], extra: {} });
  }
  return {
    authenticateToken(token, wanted) {
      const user = users.get(tokenHash(token));
      const common = audiences.filter((audience) => wanted.includes(audience));
      if (user === undefined || common.length === 0) return undefined;
      return { user, audiences: common };
    },
  };
}

/** The records of a CSV text (RFC 4180). */
function readCsv(text: string): readonly string[][] {
  const records: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const record: string[] = [];
    let isOpen = true;
    while (isOpen) {
      const [field, end] = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
      record.push(field);
      isOpen = text[end] === ",";
      at = end + (text.startsWith("\r\n", end) ? 2 : 1);
    }
    if (record.length > 1 || record[0] !== "") records.push(record); // Empty lines say nothing.
  }
  return records;
}

function plainField(text: string, start: number): [field: string, end: number] {
  let end = start;
  while (end < text.length && text[end] !== "," && text[end] !== "\n") end += 1;
  const isWindows = text[end] === "\n" && text[end - 1] === "\r";
  if (isWindows && end > start) end -= 1;
  const field = text.slice(start, end);
  if (field.includes('"')) throw new TokenFileError("a quotation mark stands in a plain field");
  return [field, end];
}

function quotedField(text: string, start: number): [field: string, end: number] {
  let end = start + 1;
  for (;;) {
    end = text.indexOf('"', end);
    if (end < 0) throw new TokenFileError("a quotation mark is not closed");
    if (text[end + 1] !== '"') break;
    end += 2;
  }
  const next = text.slice(end + 1, end + 3);
  if (next !== "" && !/^(,|\n|\r\n)/.test(next)) {
    throw new TokenFileError("something follows a closing quotation mark");
  }
  return [text.slice(start + 1, end).replaceAll('""', '"'), end + 1];
}
