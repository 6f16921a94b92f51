import type { MutableJsonObject } from "@keelson/base";

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
  const read = (): MutableJsonObject => {
    const object = sentObject(verbs, exchange, options);
    checkNamespace(exchange, object);
    checkName(exchange, object);
    return object;
  };
  const object = read();
  const uid = uidOf(object);
  // A try changes what it is given. Most have one try, so it is read again for the next, rather than copied for each.
  let unused: MutableJsonObject | undefined = object;
  const take = (): MutableJsonObject => {
    const taken = unused ?? read();
    unused = undefined;
    return taken;
  };
  const fields = resource.model.fieldManager(info.subresource);
  const { manager } = options;
  const { now } = ruleContext(verbs);
  const written = await updateObject(
    verbs,
    writeRequest(exchange, options),
    {
      change: (live) => fields.update(live, take(), { manager, now }) as MutableJsonObject,
      mayCreate: resource.switches.putCreates,
      beforeCreate: () => authorizeCreate(verbs, exchange),
      uid,
      isUnconditional: !resource.switches.putNeedsVersion,
    },
    signal,
  );
  return objectAnswer(verbs, exchange, format, { ...written, code: written.isCreated ? 201 : 200 });
};
