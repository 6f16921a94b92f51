// Colours, where somebody looks at a terminal.

const codes = { red: 31, green: 32, yellow: 33, cyan: 36, dim: 2 } as const;

export type Colour = keyof typeof codes;

/** Puts a text into a colour, or leaves it alone. */
export type Paint = (colour: Colour, text: string) => string;

export function paintFor({ hasColours }: { readonly hasColours: boolean }): Paint {
  return (colour, text) =>
    hasColours && text !== "" ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
}

/** A text in the colour of its status, phase or health word, if that has one. */
export function paintedAs(paint: Paint, word: string, text: string): string {
  const colour = colourOf(word);
  return colour === undefined ? text : paint(colour, text);
}

/** What is well, what is under way, what somebody should see. */
function colourOf(word: string): Colour | undefined {
  switch (word) {
    case "synced":
    case "Healthy":
    case "Ready":
      return "green";
    case "error":
    case "drifted":
    case "Degraded":
    case "Missing":
    case "Unreachable":
    case "conflict":
    case "Failed":
      return "red";
    case "pending":
    case "out-of-sync":
    case "pending-applied":
    case "deleting":
    case "Pending":
    case "Deleting":
    case "Progressing":
    case "Suspended":
      return "yellow";
    default:
      return undefined;
  }
}
