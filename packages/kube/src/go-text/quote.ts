// Text in quotes, as Go prints it in the messages that clients have come to know.

const short: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** Go's `%q`: printable characters as they are, the rest escaped. */
export function quote(text: string): string {
  // Almost every name and value is plain.
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let quoted = '"';
  for (const character of text) quoted += escapeCharacter(character);
  return `${quoted}"`;
}

/** Text in quotes as Go's `time` package prints it: bytes that are no printable ASCII by their numbers. */
export function quoteBytes(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let quoted = "";
  for (const byte of new TextEncoder().encode(text)) {
    if (byte === 0x22 || byte === 0x5c) quoted += `\\${String.fromCharCode(byte)}`;
    else if (byte >= 0x20 && byte < 0x80) quoted += String.fromCharCode(byte);
    else quoted += `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `"${quoted}"`;
}

/** Whether Go would print a character as it is: letters, marks, numbers, punctuation, symbols and the space. */
export function isPrintable(character: string): boolean {
  return character === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

function escapeCharacter(character: string): string {
  const escaped = short[character];
  if (escaped !== undefined) return escaped;
  const codePoint = character.codePointAt(0) ?? 0;
  if (codePoint >= 0xd800 && codePoint < 0xe000) return "\u{fffd}";
  if (isPrintable(character)) return character;
  const hex = codePoint.toString(16);
  if (codePoint < 0x80) return `\\x${hex.padStart(2, "0")}`;
  return codePoint < 0x10000 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}
