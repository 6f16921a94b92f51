/** A name as SQL text. The driver's own quoting splits at dots, and guesses what a list of names is for. */
export function quoted(...names: readonly string[]): string {
  return names.map((name) => `"${name.replaceAll('"', '""')}"`).join(", ");
}
