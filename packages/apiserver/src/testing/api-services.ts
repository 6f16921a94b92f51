// What a server says of the versions that it serves.

import type { JsonObject } from "@keelson/base";
import { until } from "@keelson/base/testing";

import { meta, type Api } from "./api.ts";

export const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";

/** Every APIService by its name, with its version in the store. */
export async function apiServiceVersions(api: Api): Promise<Readonly<Record<string, string>>> {
  const { items } = (await api.get(apiServices)).object as { items: JsonObject[] };
  return Object.fromEntries(
    items.map((object) => [meta({ object }, "name"), meta({ object }, "resourceVersion")]),
  );
}

/** The names of those that discovery asks for, in the order of a list. */
async function served(api: Api): Promise<readonly string[]> {
  const { groups } = (await api.get("/apis")).object as unknown as {
    groups: { name: string; versions: { version: string }[] }[];
  };
  return groups
    .filter(({ name }) => name !== "apiregistration.k8s.io")
    .flatMap(({ name, versions }) => versions.map(({ version }) => `${version}.${name}`))
    .concat("v1.")
    .toSorted();
}

/** Waits until each version that is served has its APIService, and no other has one. */
export async function apiServicesSettled(api: Api): Promise<void> {
  const areAll = async (): Promise<boolean> =>
    Object.keys(await apiServiceVersions(api)).join() === (await served(api)).join();
  await until(areAll, "each version that is served has its APIService");
}
