// How many columns of a terminal a text takes: letters of East Asia and pictures take two, marks above a letter none.

export function widthOf(text: string): number {
  if (isNarrow.test(text)) return text.length;
  let width = 0;
  for (const letter of text) width += unseen.test(letter) ? 0 : wide.test(letter) ? 2 : 1;
  return width;
}

/** What nearly everything is. */
const isNarrow = /^[ -\u02ff]*$/;

const unseen = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** The blocks that Unicode's EastAsianWidth.txt counts as wide, and pictures. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
