/** The word among `words` that `word` was probably meant to be: one mistake, or one in every three letters. */
export function closest(word: string, words: readonly string[]): string | undefined {
  const ranked = words
    .map((candidate) => ({ candidate, mistakes: mistakesBetween(word, candidate) }))
    .filter(({ mistakes }) => mistakes <= Math.max(1, word.length / 3))
    .sort((a, b) => a.mistakes - b.mistakes);
  return ranked[0]?.candidate;
}

/** How often a letter must be added, dropped, replaced or swapped with the next to turn one word into the other. */
function mistakesBetween(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, i) => i)];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= to.length; j++) {
      const kept = at(i - 1, j - 1) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : kept;
      row.push(Math.min(kept, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1));
    }
  }
  return at(from.length, to.length);
}
