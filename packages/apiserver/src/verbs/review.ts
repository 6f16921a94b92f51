// Reviews: questions that are created, answered and forgotten (KB 63).

import { answerReview, isReview, type ReviewDependencies } from "../auth/reviews/reviews.ts";
import { createdAnswer, creationFormat } from "../subresources/body.ts";
import { sentObject } from "./sent-object.ts";
import { ruleContext } from "../writes/write-request.ts";
import type { Verb } from "./verb.ts";
import { writeOptions } from "./write-options.ts";

/** Answers the review in the body. */
export function reviewVerb(dependencies: ReviewDependencies): Verb {
  return async (verbs, exchange) => {
    const { resource, info, user, signal } = exchange;
    const format = creationFormat(exchange);
    const options = writeOptions(exchange, "CreateOptions");
    const object = sentObject(verbs, exchange, options);
    if (!isReview(resource.kind)) throw new Error(`${resource.kind} is no review`);
    // Nobody keeps it, but its answer says who asked, like that of every creation.
    const { now } = ruleContext(verbs);
    const { manager } = options;
    const tracked = resource.model.fieldManager("").update(undefined, object, { manager, now });
    const request = { user, namespace: info.namespace, object: tracked };
    const answered = await answerReview(resource.kind, request, dependencies, signal);
    return createdAnswer(verbs, format, answered);
  };
}
