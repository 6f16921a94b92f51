/** Go's `strings.ToLower`: character by character, never longer and without regard to what stands around it. */
export function goLowerCase(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  let lower = "";
  for (const character of text) {
    // U+0130 alone becomes two characters in JavaScript; Go keeps the first.
    lower += String.fromCodePoint(character.toLowerCase().codePointAt(0) ?? 0);
  }
  return lower;
}
