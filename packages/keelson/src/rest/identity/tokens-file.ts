// The tokens file: who may come in, with the digest of each token, never the token.

import { readFile } from "node:fs/promises";
import { readJson, type Identity } from "@keelson/base";
import { Type, type Static } from "typebox";
import { domainOf, isEmail } from "../../email.ts";
import { compileSchema } from "../validation.ts";
import { TokensFileError } from "./tokens-file-error.ts";

/** Identities by the SHA-256 of their token, in lower case hex. */
export type TokenTable = ReadonlyMap<string, Identity>;

const Token = Type.Object(
  {
    name: Type.String({ pattern: "^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$" }),
    sha256: Type.String({ pattern: "^[0-9a-fA-F]{64}$" }),
    role: Type.Union([Type.Literal("reader"), Type.Literal("editor"), Type.Literal("admin")]),
    clusters: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }))),
    email: Type.Optional(Type.String()),
    roles: Type.Optional(Type.Array(Type.String({ minLength: 1 }))),
  },
  { additionalProperties: false },
);
const TokensFile = Type.Object({ tokens: Type.Array(Token) }, { additionalProperties: false });

/** Reads the file. Throws a `TokensFileError` that names every problem and repeats no digest. */
export async function readTokensFile(path: string): Promise<TokenTable> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new TokensFileError(`the tokens file ${path} cannot be read (${code})`, { cause });
  }
  try {
    return tokenTable(text);
  } catch (cause) {
    throw new TokensFileError(`the tokens file ${path} is wrong: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** The identities of a tokens file. Throws an `Error` that names every problem. */
function tokenTable(text: string): TokenTable {
  const content = readJson(text, { duplicates: "refuse" });
  const problems = tokensFileProblems(content).map(({ field, message }) => `${field} ${message}`);
  if (problems.length > 0) throw new Error(problems.join("; "));

  const { tokens } = content as unknown as Static<typeof TokensFile>;
  const table = new Map<string, Identity>();
  const names = new Set<string>();
  for (const [i, token] of tokens.entries()) {
    const digest = token.sha256.toLowerCase();
    if (names.has(token.name)) problems.push(`tokens[${i}].name ${token.name} stands twice`);
    if (table.has(digest)) problems.push(`tokens[${i}].sha256 stands twice`);
    if (token.email !== undefined && !isEmail(token.email)) {
      problems.push(`tokens[${i}].email is no e-mail address`);
    }
    names.add(token.name);
    table.set(digest, identityOf(token));
  }
  if (problems.length > 0) throw new Error(problems.join("; "));
  return table;
}

const tokensFileProblems = compileSchema(TokensFile, { root: "the file" });

function identityOf({ name, role, clusters, email, roles = [] }: Static<typeof Token>): Identity {
  const user = email ?? `${name}@token.local`;
  return Object.freeze({
    user,
    domain: domainOf(user),
    roles: Object.freeze([...roles]),
    fleetRole: role,
    clusters: clusters === undefined ? "all" : new Set(clusters),
    readOnly: role === "reader",
  });
}
