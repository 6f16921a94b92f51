// A guide as steps: the files that its reader saves and what is typed in its terminals, out of its Markdown.

/** A file that the reader saves: a block whose first line is a comment with nothing but its name. */
export interface FileStep {
  readonly kind: "file";
  readonly line: number;
  readonly name: string;
  readonly text: string;
}

/** What is typed at one terminal, and what it shows. */
export interface TypedStep {
  readonly kind: "typed";
  readonly terminal: string;
  /** Whether it is typed again until it shows that. */
  readonly repeats: boolean;
  readonly commands: readonly Typed[];
}

export interface Typed {
  readonly line: number;
  /** What is typed; `^C` is Ctrl-C. */
  readonly text: string;
  /** What is shown then, nothing where it prints nothing. */
  readonly shown: readonly string[];
}

export type Step = FileStep | TypedStep;

/** The terminal of blocks that name none. */
export const mainTerminal = "main";

interface Block {
  readonly line: number;
  readonly words: readonly string[];
  readonly lines: readonly string[];
}

/** Throws where a block is neither typed, nor a file, nor marked as `text`. */
export function stepsOf(markdown: string): readonly Step[] {
  return blocksOf(markdown).flatMap((block) => {
    const [language] = block.words;
    if (language === "text") return [];
    return [language === "console" ? typedStep(block) : fileStep(block)];
  });
}

function blocksOf(markdown: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { line: number; words: string[]; lines: string[] } | undefined;
  for (const [index, text] of markdown.split("\n").entries()) {
    if (!text.startsWith("```")) open?.lines.push(text);
    else if (open === undefined) {
      open = { line: index + 1, words: text.slice(3).trim().split(" "), lines: [] };
    } else {
      blocks.push(open);
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`line ${open.line}: the block has no end`);
  return blocks;
}

function fileStep({ line, lines }: Block): FileStep {
  const [, name] = /^(?:#|\/\/) ([\w./-]+\.\w+)$/.exec(lines[0] ?? "") ?? [];
  if (name === undefined) {
    throw new Error(
      `line ${line}: a block is \`console\`, \`text\`, or begins with a comment that names its file`,
    );
  }
  return { kind: "file", line, name, text: `${lines.join("\n")}\n` };
}

function typedStep({ line, words, lines }: Block): TypedStep {
  const marks = words.slice(1);
  const [terminal = mainTerminal] = marks.filter((mark) => mark !== "until");
  const commands: { line: number; text: string; shown: string[] }[] = [];
  for (const [index, text] of lines.entries()) {
    const last = commands.at(-1);
    if (text.startsWith("$ ") || text === "^C") {
      commands.push({ line: line + index + 1, text: text.replace(/^\$ /, ""), shown: [] });
    } else if (last === undefined) {
      throw new Error(`line ${line}: the block begins with no command`);
    } else if (/^> ?/.test(text) && last.shown.length === 0) {
      last.text += `\n${text.replace(/^> ?/, "")}`;
    } else last.shown.push(text);
  }
  const repeats = marks.includes("until");
  if (repeats && (commands.length !== 1 || commands[0]?.shown.length === 0)) {
    throw new Error(`line ${line}: what is repeated is one command with what it shows in the end`);
  }
  return { kind: "typed", terminal, repeats, commands };
}
