import { createObject } from "../writes/create-object.ts";
import { checkNamespace, sentObject } from "./sent-object.ts";
import { formatFor, objectAnswer, type Verb } from "./verb.ts";
import { writeOptions, writeRequest } from "./write-options.ts";

/** Stores a new object. */
export const create: Verb = async (verbs, exchange) => {
  const format = formatFor(exchange);
  const options = writeOptions(exchange, "CreateOptions");
  const object = sentObject(verbs, exchange, options);
  checkNamespace(exchange, object);
  const request = { ...writeRequest(exchange, options), name: "" };
  const written = await createObject(verbs, request, { object }, exchange.signal);
  return objectAnswer(verbs, exchange, format, { code: 201, ...written });
};
