// What is said of older values: on the object, and to the client.

import { isJsonObject, type MutableJsonObject } from "@keelson/base";

import { ownMetadata } from "../../object-metadata.ts";

const prefix = "ark.mckinsey.com/migration-warning-";

/** Each is the end of an annotation's name. */
export type MigrationTopic =
  | "graph"
  | "input-type"
  | "provider"
  | "round-robin"
  | "tool-type-custom";

/** Leaves a note about an older value in the annotations, and says the same to the client. */
export function noteMigration(
  object: MutableJsonObject,
  { topic, text }: { readonly topic: MigrationTopic; readonly text: string },
  warn: (text: string) => void,
): void {
  const metadata = ownMetadata(object);
  const { annotations } = metadata;
  metadata["annotations"] = {
    ...(isJsonObject(annotations) ? annotations : {}),
    [`${prefix}${topic}`]: text,
  };
  warn(text);
}
