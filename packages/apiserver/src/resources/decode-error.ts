/** A body that cannot be read as an object of its kind; the message is that of the real server's decoder. */
export class DecodeError extends Error {
  readonly code = "DECODE";
  override readonly name = "DecodeError";
}
