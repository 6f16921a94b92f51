// The only home of randomness: whoever needs chance is given a `Random`, so a seed can replay it.

/** A source of chance. */
export interface Random {
  /** Uniform in [0, 1), with 53 bits. Not for secrets. */
  float(): number;

  /** A uniform integer in [0, below). Throws a `RangeError` unless `below` is an integer in 1..2^53-1. Not for secrets. */
  integer(below: number): number;

  /** A version 4 UUID in lower case. */
  uuid(): string;

  /** One of `items`, each as likely. Throws a `RangeError` when there are none. */
  pick<T>(items: readonly T[]): T;

  /** The items in an order drawn uniformly, as a new array. */
  shuffle<T>(items: readonly T[]): T[];

  /** `length` fresh bytes, owned by the caller. */
  bytes(length: number): Uint8Array<ArrayBuffer>;
}

/** The chance of the machine. Its `uuid` and `bytes` are fit for secrets. */
export const systemRandom: Random = {
  ...randomFrom({ float: () => Math.random(), fill: fillFromSystem }),
  uuid: pooledUuids(),
};

function fillFromSystem(bytes: Uint8Array<ArrayBuffer>): void {
  for (let start = 0; start < bytes.length; start += fillBytesMax) {
    crypto.getRandomValues(bytes.subarray(start, start + fillBytesMax));
  }
}

/** The system is asked for many at a time: a call costs more than the rest of a UUID. No byte is used twice. */
function pooledUuids(): () => string {
  const pool = new Uint8Array(16 * 128);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      fillFromSystem(pool);
      used = 0;
    }
    const text = formatUuid(pool, used);
    pool.fill(0, used, used + 16); // What was handed out is not kept.
    used += 16;
    return text;
  };
}

/**
 * A sequence that the seed alone decides, the same on every machine and in every release.
 *
 * `42` and `"42"` are the same seed. For independent sequences from one seed, name them:
 * ``seededRandom(`${seed}/network`)``. Fit for tests and simulations, never for secrets.
 */
export function seededRandom(seed: number | string): Random {
  const next = sfc32(hash128(String(seed)));
  return randomFrom({
    float: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53,
    fill: (bytes) => {
      for (let start = 0; start < bytes.length; start += 4) {
        const word = next();
        for (let i = start; i < Math.min(start + 4, bytes.length); i++) {
          bytes[i] = word >>> (8 * (i - start));
        }
      }
    },
  });
}

/** Every byte in two digits. */
const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The most bytes that the platform gives in one call. */
const fillBytesMax = 65_536;

interface Source {
  readonly float: () => number;
  readonly fill: (bytes: Uint8Array<ArrayBuffer>) => void;
}

function randomFrom({ float, fill }: Source): Random {
  const integer = (below: number): number => {
    if (!Number.isSafeInteger(below) || below < 1) {
      throw new RangeError(`an integer below ${below} was asked for`);
    }
    return Math.floor(float() * below);
  };
  const bytes = (length: number): Uint8Array<ArrayBuffer> => {
    const fresh = new Uint8Array(length);
    fill(fresh);
    return fresh;
  };
  return {
    float,
    integer,
    bytes,
    uuid: () => formatUuid(bytes(16)),
    pick: <T>(items: readonly T[]): T => {
      if (items.length === 0) throw new RangeError("there is nothing to pick from");
      return items[integer(items.length)] as T;
    },
    shuffle: <T>(items: readonly T[]): T[] => {
      const shuffled = [...items];
      for (let i = shuffled.length - 1; i > 0; i--) {
        const j = integer(i + 1);
        [shuffled[i], shuffled[j]] = [shuffled[j] as T, shuffled[i] as T];
      }
      return shuffled;
    },
  };
}

function formatUuid(bytes: Uint8Array, start = 0): string {
  let text = "";
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += "-";
    const byte = bytes[start + i] ?? 0;
    // Version 4 in the seventh byte, the variant of RFC 9562 in the ninth.
    const marked = i === 6 ? (byte & 0x0f) | 0x40 : i === 8 ? (byte & 0x3f) | 0x80 : byte;
    text += hexOfByte[marked];
  }
  return text;
}

/** Chris Doty-Humphrey's small fast counting generator: passes PractRand, and its period is at least 2^32. */
function sfc32([a, b, c, counter]: [number, number, number, number]): () => number {
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return sum >>> 0;
  };
  // Seeds that differ in one bit need a few rounds until their sequences have nothing in common.
  for (let i = 0; i < 15; i++) next();
  return next;
}

/** Four words from a text, by four FNV-like lanes and a final mix as in MurmurHash3. Not cryptographic. */
function hash128(text: string): [number, number, number, number] {
  const lanes: [number, number, number, number] = [0x9e3779b9, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    for (const lane of [0, 1, 2, 3] as const) {
      lanes[lane] = Math.imul(lanes[lane] ^ (unit + lane * 0x10001), 0x01000193 + 2 * lane);
    }
  }
  return lanes.map((word) => mix32(word ^ text.length)) as [number, number, number, number];
}

function mix32(word: number): number {
  word = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35);
  return word ^ (word >>> 16);
}
