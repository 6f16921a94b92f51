// Reads label selectors as they come in queries: `app in (a,b), tier!=x, !old`.

import {
  type LabelOperator,
  type LabelRequirement,
  type LabelSelector,
  sortRequirements,
} from "./label-selector.ts";
import { BadSelector, labelRequirement, requireLabelKey } from "./requirement.ts";

/** Reads a selector. Throws a `BadSelector` with the words of Kubernetes; takes linear time. */
export function parseLabelSelector(text: string): LabelSelector {
  return new Parser(scan(text)).parse();
}

type TokenKind =
  | "error"
  | "end"
  | ")"
  | ","
  | "!"
  | "=="
  | "="
  | ">"
  | "identifier"
  | "in"
  | "<"
  | "!="
  | "notin"
  | "(";

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

const symbols: ReadonlyMap<string, TokenKind> = new Map([
  [")", ")"],
  [",", ","],
  ["!", "!"],
  ["==", "=="],
  ["=", "="],
  [">", ">"],
  ["<", "<"],
  ["!=", "!="],
  ["(", "("],
]);
const operators: ReadonlyMap<TokenKind, LabelOperator> = new Map([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);
const special = /[=!(),><]/;
const blank = /[ \t\r\n]/;

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  let position = 0;
  while (position < text.length) {
    const character = text.charAt(position);
    // A NUL ends the text, as it ends Go's.
    if (character === "\0") break;
    if (blank.test(character)) {
      position += 1;
      continue;
    }
    const token = special.test(character) ? scanSymbol(text, position) : scanWord(text, position);
    tokens.push(token.token);
    position = token.end;
  }
  tokens.push({ kind: "end", text: "" });
  return tokens;
}

/** The longest symbol that starts here. */
function scanSymbol(text: string, start: number): { token: Token; end: number } {
  const two = text.slice(start, start + 2);
  const long = symbols.get(two);
  if (two.length === 2 && long !== undefined)
    return { token: { kind: long, text: two }, end: start + 2 };
  const one = text.charAt(start);
  return { token: { kind: symbols.get(one) ?? "error", text: one }, end: start + 1 };
}

function scanWord(text: string, start: number): { token: Token; end: number } {
  let end = start;
  while (end < text.length) {
    const character = text.charAt(end);
    if (character === "\0" || special.test(character) || blank.test(character)) break;
    end += 1;
  }
  const word = text.slice(start, end);
  const kind = word === "in" || word === "notin" ? word : "identifier";
  return { token: { kind, text: word }, end };
}

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): LabelSelector {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const first = this.#peek();
      if (first.kind === "end") break;
      if (first.kind !== "identifier" && first.kind !== "!") {
        throw new BadSelector(`found '${first.text}', expected: !, identifier, or 'end of string'`);
      }
      requirements.push(this.#parseRequirement());
      const next = this.#take();
      if (next.kind === "end") break;
      if (next.kind !== ",") {
        throw new BadSelector(`found '${next.text}', expected: ',' or 'end of string'`);
      }
      const after = this.#peek();
      if (after.kind !== "identifier" && after.kind !== "!") {
        throw new BadSelector(`found '${after.text}', expected: identifier after ','`);
      }
    }
    return sortRequirements(requirements);
  }

  #parseRequirement(): LabelRequirement {
    try {
      const { key, operator } = this.#parseKey();
      if (operator !== undefined) return labelRequirement(key, operator, []);
      const binary = this.#parseOperator();
      const values =
        binary === "in" || binary === "notin" ? this.#parseValues() : [this.#parseExactValue()];
      return labelRequirement(key, binary, values);
    } catch (error) {
      if (!(error instanceof BadSelector)) throw error;
      throw new BadSelector(`unable to parse requirement: ${error.message}`);
    }
  }

  /** The operator too where the key alone says it. */
  #parseKey(): { key: string; operator: LabelOperator | undefined } {
    let token = this.#take();
    const isAbsent = token.kind === "!";
    if (isAbsent) token = this.#take();
    if (token.kind !== "identifier") {
      throw new BadSelector(`found '${token.text}', expected: identifier`);
    }
    requireLabelKey(token.text);
    const { kind } = this.#peek();
    if (isAbsent) return { key: token.text, operator: "!" };
    return { key: token.text, operator: kind === "end" || kind === "," ? "exists" : undefined };
  }

  #parseOperator(): LabelOperator {
    const { kind, text } = this.#takeOperator();
    const operator = operators.get(kind);
    if (operator === undefined) {
      throw new BadSelector(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
    return operator;
  }

  #parseValues(): string[] {
    const open = this.#take();
    if (open.kind !== "(") throw new BadSelector(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ")") {
      this.#take();
      return [""];
    }
    if (first.kind !== "identifier" && first.kind !== ",") {
      throw new BadSelector(`found '${first.text}', expected: ',', ')' or identifier`);
    }
    const values = this.#parseList();
    if (this.#take().kind !== ")") throw new BadSelector(`found '${first.text}', expected: ')'`);
    return [...values];
  }

  /** Between the parentheses; a missing word is an empty value. */
  #parseList(): Set<string> {
    const values = new Set<string>();
    for (;;) {
      const token = this.#take();
      if (token.kind === "identifier") {
        values.add(token.text);
        const next = this.#peek();
        if (next.kind === ")") return values;
        if (next.kind !== ",") {
          throw new BadSelector(`found '${next.text}', expected: ',' or ')'`);
        }
      } else if (token.kind === ",") {
        if (values.size === 0) values.add("");
        const { kind } = this.#peek();
        if (kind === ")" || kind === ",") values.add("");
        if (kind === ")") return values;
      } else {
        throw new BadSelector(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }

  #parseExactValue(): string {
    const { kind } = this.#peek();
    if (kind === "end" || kind === ",") return "";
    const token = this.#take();
    if (token.kind !== "identifier") {
      throw new BadSelector(`found '${token.text}', expected: identifier`);
    }
    return token.text;
  }

  /** The next token; `in` and `notin` are words wherever no operator is expected. */
  #peek(): Token {
    return asWord(this.#tokens[this.#position]);
  }

  #take(): Token {
    return asWord(this.#takeOperator());
  }

  #takeOperator(): Token {
    const token = this.#tokens[this.#position] ?? end;
    this.#position += 1;
    return token;
  }
}

const end: Token = { kind: "end", text: "" };

function asWord(token: Token = end): Token {
  return token.kind === "in" || token.kind === "notin" ? { ...token, kind: "identifier" } : token;
}
