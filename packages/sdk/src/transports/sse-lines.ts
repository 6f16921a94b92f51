// The text of a stream of server-sent events, as frames.

export interface Frame {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

/** Longer than any event of ours: beyond it the stream is not what it should be. */
const frameCharsMax = 4 * 1024 * 1024;

/** Frames out of chunks. A comment gives nothing, a place alone a frame without data; a frame that the end of the stream cuts off is dropped. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = "";
  let lines: string[] = [];
  let linesChars = 0;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    if (linesChars + rest.length > frameCharsMax)
      throw new Error("an event of the stream is too long");
    // A line that ends in a carriage return may go on with the line feed in the next chunk.
    const parts = rest.split(/\r\n|\n|\r(?!$)/);
    rest = parts.pop() ?? "";
    for (const line of parts) {
      if (line !== "") {
        lines.push(line);
        linesChars += line.length;
        continue;
      }
      const frame = frameOf(lines);
      lines = [];
      linesChars = 0;
      if (frame !== undefined) yield frame;
    }
  }
}

function frameOf(lines: readonly string[]): Frame | undefined {
  let id: string | undefined;
  let event = "message";
  const data: string[] = [];
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") id = value;
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
  }
  if (data.length === 0 && event === "message" && id === undefined) return undefined;
  return { event, data: data.join("\n"), ...(id === undefined ? {} : { id }) };
}
