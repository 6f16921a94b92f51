// Standard padded base64, as Go reads and prints it.

import { byteLength } from "./byte-order.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * The canonical text of what a text encodes; where it encodes nothing, the byte at which Go gives up. Line
 * breaks are skipped, and bits that no byte needs are dropped.
 */
export function decodeBase64(text: string): string | number {
  const end = text.search(/[^A-Za-z0-9+/]/);
  const size = end === -1 ? text.length : end;
  if (text.length % 4 === 0) {
    if (end === -1) return text;
    const isPadded = end === text.length - 1 && text[end] === "=";
    if (isPadded || (end === text.length - 2 && text.endsWith("=="))) {
      return canonical(text.slice(0, size));
    }
  }
  return decodeCarefully(text);
}

/** The bytes of a base64 text, one character each; nothing if it is no base64. */
export function bytesOfBase64(base64: string): string | undefined {
  const canonical = decodeBase64(base64);
  return typeof canonical === "number" ? undefined : atob(canonical);
}

/** The base64 of bytes. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  // In pieces: a call takes only so many arguments.
  for (let start = 0; start < bytes.length; start += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  }
  return btoa(binary);
}

/** The base64 of a text's UTF-8. */
export function encodeText(text: string): string {
  return encodeBase64(new TextEncoder().encode(text));
}

/** The text that canonical base64 is of; what is no UTF-8 becomes U+FFFD. */
export function decodeText(base64: string): string {
  return new TextDecoder().decode(
    Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)),
  );
}

/** How many bytes canonical base64 stands for. */
export function base64Bytes(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

function digit(bits: number): string {
  return alphabet.charAt(bits & 63);
}

/** Digits with their padding; what lies beyond the last whole byte is zero. */
function canonical(digits: string): string {
  const rest = digits.length % 4;
  if (rest === 0) return digits;
  const last = alphabet.indexOf(digits.charAt(digits.length - 1));
  const kept = rest === 2 ? last & 0b110000 : last & 0b111100;
  return digits.slice(0, -1) + digit(kept) + "=".repeat(4 - rest);
}

/** By quanta of four digits: for what is broken over lines, and for what is wrong. */
function decodeCarefully(text: string): string | number {
  const isBreak = (at: number): boolean => text[at] === "\n" || text[at] === "\r";
  const byteAt = (at: number): number => byteLength(text.slice(0, at));
  let digits = "";
  let at = 0;
  let count = 0; // Digits of the quantum.
  for (; at < text.length; at++) {
    if (isBreak(at)) continue;
    if (text[at] === "=") break;
    if (!alphabet.includes(text.charAt(at))) return byteAt(at);
    digits += text.charAt(at);
    count = (count + 1) % 4;
  }
  if (at === text.length) return count === 0 ? digits : byteAt(at) - count;
  if (count < 2) return byteAt(at);
  at++;
  const skipBreaks = (): void => {
    while (at < text.length && isBreak(at)) at++;
  };
  if (count === 2) {
    skipBreaks();
    if (at === text.length) return byteAt(at);
    if (text[at] !== "=") return byteAt(at) - 1;
    at++;
  }
  skipBreaks();
  return at < text.length ? byteAt(at) : canonical(digits);
}
