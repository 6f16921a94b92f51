// Resources with everything that is known of each.

import type { RestClient } from "../client/rest-client.ts";
import { findDetails, type ListedResource, type ResourceDetails } from "./resource-shapes.ts";

/** How many are asked for at once. */
const atOnce = 8;

/** Without those that have gone meanwhile. */
export async function readWholes(
  client: RestClient,
  resources: readonly Pick<ListedResource, "id">[],
  signal: AbortSignal,
): Promise<readonly ResourceDetails[]> {
  const found: (ResourceDetails | undefined)[] = [];
  for (let at = 0; at < resources.length; at += atOnce) {
    const some = resources.slice(at, at + atOnce);
    found.push(...(await Promise.all(some.map(({ id }) => findDetails(client, id, signal)))));
  }
  return found.filter((details) => details !== undefined);
}
