// What a refusal means to the person who typed the command, and what they can do next.

import { CommandError } from "../command-error.ts";
import { Refused } from "./rest-client.ts";

/** The error that is shown for one that a request threw. Whatever was not a refusal stays what it is. */
export function explained(error: unknown, { hasToken }: { readonly hasToken: boolean }): unknown {
  if (!(error instanceof Refused)) return error;
  return new CommandError([error.message, ...others(error)].join("\n  ") + next(error, hasToken), {
    cause: error,
  });
}

/** The message is about the first field; the rest are lines of their own. */
function others({ fields }: Refused): readonly string[] {
  return fields.length < 2 ? [] : fields.map(({ field, message }) => `${field}: ${message}`);
}

function next({ status, code }: Refused, hasToken: boolean): string {
  switch (status) {
    case 401:
      if (code === "UNTRUSTED_GATEWAY") return ": it believes its gateway and no --as, ask there";
      if (code === "INVALID_EMAIL") return ": write --as like you@example.com";
      return hasToken
        ? ": the server does not take this token, see --token and KEELSON_TOKEN"
        : ": give a token with --token or KEELSON_TOKEN";
    case 403:
      return hasToken ? ": a token with more rights is needed" : "";
    case 503:
      return ": try again in a moment";
    default:
      return code === "INTERNAL_ERROR" ? ": the log of the server says more" : "";
  }
}
