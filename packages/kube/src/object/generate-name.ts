import type { Random } from "@keelson/base";

const alphabet = "bcdfghjklmnpqrstvwxz2456789";
const baseMax = 58;
const suffixLength = 5;

/** How many generated names may be taken before a creation fails (KB 25). */
export const generatedNamesMax = 8;

/** A name from a `generateName`: at most 58 bytes of it, and five characters. */
export function generateName(base: string, random: Random): string {
  let suffix = "";
  for (let i = 0; i < suffixLength; i++) suffix += alphabet.charAt(random.integer(alphabet.length));
  return base.slice(0, baseMax) + suffix;
}
