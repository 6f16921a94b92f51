// `serviceaccounts/token`: a token for whoever runs as the account.

import { isJsonObject } from "@keelson/base";

import type { BoundObjects } from "../auth/bound-objects.ts";
import { issueToken } from "../auth/reviews/token-request.ts";
import type { ServiceAccountTokens } from "../auth/service-account-tokens.ts";
import type { Answerers } from "../resource-dispatch.ts";
import { createdAnswer, sentBody, type BodyKind } from "./body.ts";

/** How long a token holds unless the request says otherwise. */
const expirationSeconds = 3600;

/** The verbs of `serviceaccounts/token`; none where there are no tokens. */
export function token(
  tokens: ServiceAccountTokens | undefined,
  objects: BoundObjects,
  kind: BodyKind,
): Answerers {
  if (tokens === undefined) return {};
  return {
    create: async (verbs, exchange) => {
      const { clock, random } = verbs;
      const { info, warn, signal } = exchange;
      const object = sentBody(verbs, exchange, kind);
      const { spec } = object;
      object["spec"] = { expirationSeconds, ...(isJsonObject(spec) ? spec : {}) };
      const { namespace, name } = info;
      const issued = await issueToken(
        { namespace, name, object },
        { tokens, objects, clock, random },
        signal,
      );
      for (const text of issued.warnings) warn(text);
      return createdAnswer(verbs, exchange, issued.object);
    },
  };
}
