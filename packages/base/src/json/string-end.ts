/** The index of the quote that closes the string opened by the quote at `start`, or -1. Takes linear time. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end > 0) {
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === backslash) escapes--;
    // An odd number of backslashes escapes the quote.
    if ((end - escapes) % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return -1;
}

const backslash = 0x5c;
