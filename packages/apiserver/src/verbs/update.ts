import { cloneJson, type MutableJsonObject } from "@keelson/base";

import { uidOf } from "../object-metadata.ts";
import { updateObject } from "../writes/update-object.ts";
import { ruleContext } from "../writes/write-request.ts";
import { authorizeCreate } from "./authorize-create.ts";
import { checkName, checkNamespace, sentObject } from "./sent-object.ts";
import { formatFor, objectAnswer, type Verb } from "./verb.ts";
import { writeOptions, writeRequest } from "./write-options.ts";

/** Replaces an object, or its status; creates it where the kind allows that. */
export const update: Verb = async (verbs, exchange) => {
  const { resource, info, signal } = exchange;
  const format = formatFor(exchange);
  const options = writeOptions(exchange, "UpdateOptions");
  const object = sentObject(verbs, exchange, options);
  checkNamespace(exchange, object);
  checkName(exchange, object);
  const fields = resource.model.fieldManager(info.subresource);
  const { manager } = options;
  const { now } = ruleContext(verbs);
  const written = await updateObject(
    verbs,
    writeRequest(exchange, options),
    {
      change: (live) =>
        fields.update(live, cloneJson(object), { manager, now }) as MutableJsonObject,
      mayCreate: resource.switches.putCreates,
      beforeCreate: () => authorizeCreate(verbs, exchange),
      uid: uidOf(object),
      isUnconditional: !resource.switches.putNeedsVersion,
    },
    signal,
  );
  return objectAnswer(verbs, exchange, format, { ...written, code: written.isCreated ? 201 : 200 });
};
