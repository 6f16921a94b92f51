// How much is told of what is right but perhaps not meant.

/** Beyond so many characters in all, each warning is cut; and none follows. */
const textMax = 4 * 1024;
const cutTextMax = 256;

/** What a client has to be told, in the order in which it came up, each once: in full while there is little of it, and nothing that no header takes, as the real server does. */
export class WarningList {
  readonly #all = new Set<string>();
  #told: string[] = [];
  #length = 0;
  #isCut = false;

  /** Whether nothing more is told. */
  get isFull(): boolean {
    return this.#isCut && this.#length >= textMax;
  }

  add(text: string): void {
    if (text === "" || this.isFull || this.#all.has(text)) return;
    this.#all.add(text);
    if (!canBeTold(this.#isCut ? cut(text) : text)) return;
    if (!this.#isCut && this.#length + lengthOf(text) > textMax) {
      this.#isCut = true;
      this.#told = [];
      this.#length = 0;
      for (const one of this.#all) this.#tell(cut(one));
    } else this.#tell(this.#isCut ? cut(text) : text);
  }

  /** What was added while there was room. */
  get all(): readonly string[] {
    return [...this.#all];
  }

  /** The same as it is told. */
  get told(): readonly string[] {
    return [...this.#told];
  }

  #tell(text: string): void {
    if (!canBeTold(text)) return;
    this.#told.push(text);
    this.#length += lengthOf(text);
  }
}

/** The warnings that can be told; what would be found later is not looked for. */
export function firstWarnings(warnings: Iterable<string>): readonly string[] {
  const list = new WarningList();
  for (const text of warnings) {
    list.add(text);
    if (list.isFull) break;
  }
  return list.all;
}

/** A header is one line: of what has a control character nothing is told. */
function canBeTold(text: string): boolean {
  return !/\p{Cc}/u.test(text);
}

function cut(text: string): string {
  return Array.from(text.slice(0, 2 * cutTextMax))
    .slice(0, cutTextMax)
    .join("");
}

/** In characters, not in units of UTF-16; of a text that is too long anyway only that. */
function lengthOf(text: string): number {
  return text.length > 2 * textMax ? text.length : Array.from(text).length;
}
