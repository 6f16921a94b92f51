// Strings in the order of their UTF-8 bytes, which is Go's. JavaScript compares UTF-16 units, and those differ
// for characters beyond the basic plane.

/** Negative, zero or positive, as the UTF-8 of `a` comes before, equals or comes after that of `b`. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** How many bytes the text takes in UTF-8; a lone surrogate counts as the three of U+FFFD. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
    } else if (unit >= 0xd800 && unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2; // Two units, four bytes.
      i += 1;
    } else {
      bytes += 2;
    }
  }
  return bytes;
}

/** Surrogates stand for characters above every single unit. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}
