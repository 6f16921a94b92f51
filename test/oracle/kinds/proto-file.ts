// Just enough of a reader for the `generated.proto` files of Kubernetes: proto2, flat messages.

/** Fields by number. */
export type ProtoMessage = ReadonlyMap<number, ProtoField>;

export interface ProtoField {
  readonly name: string;
  /** As written, without `optional` and without packages: `repeated Container`, `map<string, bytes>`. */
  readonly type: string;
}

/** The messages of a file by their names. */
export function parseProto(text: string): ReadonlyMap<string, ProtoMessage> {
  const code = text.replaceAll(/\/\/.*$/gm, "");
  const messages = new Map<string, ProtoMessage>();
  for (const [, name = "", body = ""] of code.matchAll(/^message (\w+) \{([^}]*)\}/gm)) {
    const fields = new Map<number, ProtoField>();
    for (const [, type = "", field = "", number] of body.matchAll(
      /^\s*((?:optional |repeated |map<).*?) (\w+) = (\d+);/gm,
    )) {
      const bare = type.replace(/^optional /, "").replaceAll(/[\w.]*\.(\w+)/g, "$1");
      fields.set(Number(number), { name: field, type: bare });
    }
    messages.set(name, fields);
  }
  return messages;
}
