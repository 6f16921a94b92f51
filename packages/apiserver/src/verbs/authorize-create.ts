import { failures } from "@keelson/kube";

import type { ResourceExchange } from "../http/exchange.ts";
import type { Verbs } from "./verb.ts";

/** A write that creates what it did not find takes the permission to create (KB 41). */
export async function authorizeCreate(
  { authorizer }: Pick<Verbs, "authorizer">,
  { user, info, signal }: ResourceExchange,
): Promise<void> {
  const { group, version, resource, namespace, name } = info;
  const attributes = {
    isResource: true,
    verb: "create",
    group,
    version,
    resource,
    subresource: "",
    namespace,
    name,
  } as const;
  const { isAllowed, reason } = await authorizer.authorize(user, attributes, signal);
  if (isAllowed) return;
  const about = { group, resource };
  const why = failures.cannot(user.name, "create", about, namespace === "" ? undefined : namespace);
  throw failures.forbidden(about, name, reason === "" ? why : `${why}: ${reason}`);
}
