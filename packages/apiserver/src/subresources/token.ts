// `serviceaccounts/token`: a token for whoever runs as the account.

import { isJsonObject } from "@keelson/base";
import type { FieldManager } from "@keelson/kube";

import type { BoundObjects } from "../auth/bound-objects.ts";
import { expirationSecondsDefault, issueToken } from "../auth/reviews/token-request.ts";
import type { ServiceAccountTokens } from "../auth/service-account-tokens.ts";
import type { Answerers } from "../resource-dispatch.ts";
import { writeOptions } from "../verbs/write-options.ts";
import { ruleContext } from "../writes/write-request.ts";
import { createdAnswer, creationFormat, sentBody, type BodyKind } from "./body.ts";

/** The verbs of `serviceaccounts/token`; none where there are no tokens. */
export function token(
  tokens: ServiceAccountTokens | undefined,
  objects: BoundObjects,
  kind: BodyKind & { readonly fields: () => FieldManager },
): Answerers {
  if (tokens === undefined) return {};
  return {
    create: async (verbs, exchange) => {
      const { clock, random } = verbs;
      const { info, warn, signal } = exchange;
      const format = creationFormat(exchange);
      const options = writeOptions(exchange, "CreateOptions");
      const sent = sentBody(verbs, exchange, { kind, options });
      const spec = isJsonObject(sent["spec"]) ? sent["spec"] : {};
      sent["spec"] = {
        ...spec,
        expirationSeconds: spec["expirationSeconds"] ?? expirationSecondsDefault,
      };
      const { namespace, name } = info;
      // Nobody keeps it, but its answer says who asked, like that of every creation.
      const { manager } = options;
      const object = kind
        .fields()
        .update(undefined, sent, { manager, now: ruleContext(verbs).now });
      const issued = await issueToken(
        { namespace, name, object },
        { tokens, objects, clock, random },
        signal,
      );
      for (const text of issued.warnings) warn(text);
      return createdAnswer(verbs, format, issued.object);
    },
  };
}
