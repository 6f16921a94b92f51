import { hash } from "node:crypto";
import type { Clock, Identity, Log } from "@keelson/base";
import { FollowedFiles } from "../../followed-files.ts";
import { bearerToken, invalidToken, type Authenticator } from "./authenticator.ts";
import { readTokensFile, type TokenTable } from "./tokens-file.ts";

export interface TokenOptions {
  readonly tokensFile: string;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Knows the tokens of a file, and follows the file: what is added or removed there counts within 5 seconds. A
 * file that has become wrong or unreadable changes nothing until it is right again; the log says so.
 *
 * Throws a `TokensFileError` if the file is wrong from the start.
 */
export async function tokenAuthenticator({
  tokensFile,
  clock,
  log,
}: TokenOptions): Promise<Authenticator> {
  const file = await FollowedFiles.look([tokensFile]);
  let table: TokenTable = await readTokensFile(tokensFile);
  // Tokens that were right, so that each costs its digest once. There are never more than the table has.
  const recognised = new Map<string, Identity>();
  return {
    isAuthenticated: true,
    authenticate: (request) => {
      const token = bearerToken(request);
      const known = recognised.get(token);
      if (known !== undefined) return known;
      // One fast digest and a lookup by it: tokens are long and random, and the time that a lookup takes tells
      // about the digest, from which nobody comes back to the token.
      const identity = table.get(hash("sha256", token));
      if (identity === undefined) throw invalidToken("the token is not known");
      recognised.set(token, identity);
      return identity;
    },
    keepFresh: (signal) =>
      file.follow(
        async () => {
          try {
            table = await readTokensFile(tokensFile);
            recognised.clear();
            log.info({ tokensFile, tokens: table.size }, "tokens file read again");
          } catch (error) {
            log.error({ tokensFile, error }, "tokens file is wrong, the last good one counts");
          }
        },
        clock,
        signal,
      ),
  };
}
