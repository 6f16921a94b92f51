/** Bytes that are not the protobuf of an object, or an object that has no protobuf. */
export class ProtobufError extends Error {
  readonly code = "PROTOBUF_INVALID";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "ProtobufError";
  }
}

/** Runs a reader; whatever is wrong with the bytes becomes a `ProtobufError`. */
export function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProtobufError || !(error instanceof Error)) throw error;
    const message = `the bytes end early or make no sense: ${error.message}`;
    throw new ProtobufError(message, { cause: error });
  }
}
