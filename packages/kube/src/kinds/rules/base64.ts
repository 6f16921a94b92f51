// Bytes in JSON: padded standard base64.

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** How many bytes the text stands for. */
export function base64Bytes(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return Math.floor((text.length * 3) / 4) - padding;
}

/** The bytes of a text in UTF-8, in base64. */
export function base64OfText(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let encoded = "";
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(i, i + 3);
    const bits = (a << 16) | (b << 8) | c;
    const left = Math.min(bytes.length - i, 3);
    for (let j = 0; j < 4; j++) {
      encoded += j <= left ? alphabet.charAt((bits >> (18 - 6 * j)) & 63) : "=";
    }
  }
  return encoded;
}

/** The text that the bytes are in UTF-8; what is none becomes U+FFFD. */
export function textOfBase64(encoded: string): string {
  const bytes: number[] = [];
  let bits = 0;
  let count = 0;
  for (const character of encoded) {
    const value = alphabet.indexOf(character);
    if (value < 0) continue;
    bits = ((bits << 6) | value) & 0xffffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes.push((bits >> count) & 0xff);
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}
