/** The word among `words` that `word` was probably meant to be: at most a third of its letters differ. */
export function closest(word: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((candidate) => ({ candidate, distance: distanceBetween(word, candidate) }))
    .filter(({ distance }) => distance <= Math.max(2, word.length / 3))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.candidate;
}

/** How many letters must be added, dropped or exchanged to turn one word into the other. */
function distanceBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of from.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of to.split("").entries()) {
      const kept = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(kept, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
