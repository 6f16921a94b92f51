// Two texts compared line by line, as the messages about changes that are not allowed show them. Which lines count as
// kept follows the library that the real server uses, so that clients see the same hunks.

/** Beyond this many lines no difference is shown. */
export const diffLinesMax = 10_000;

/** How many pairs of lines are looked at: texts can be made for which there is no end of them. */
const diffStepsMax = 2_000_000;

const context = 3;

/** A unified difference without file names; empty if the texts are equal, or too much work to compare. */
export function unifiedDiff(before: string, after: string): string {
  const [a, b] = [before.split("\n"), after.split("\n")];
  if (a.length > diffLinesMax || b.length > diffLinesMax) return "";
  const blocks = matchingBlocks(a, b);
  if (blocks === undefined) return "";
  let text = "";
  for (const group of groups(changes(blocks))) {
    const [first, last] = [group[0], group.at(-1)];
    if (first === undefined || last === undefined) continue;
    text += `@@ -${range(first.a, last.aEnd)} +${range(first.b, last.bEnd)} @@\n`;
    for (const change of group) {
      if (change.isKept) {
        for (const line of a.slice(change.a, change.aEnd)) text += ` ${line}\n`;
        continue;
      }
      for (const line of a.slice(change.a, change.aEnd)) text += `-${line}\n`;
      for (const line of b.slice(change.b, change.bEnd)) text += `+${line}\n`;
    }
  }
  return text;
}

/** Lines from `a` in one text that are those from `b` in the other. */
interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/** A stretch that is kept, or replaced. */
interface Change {
  readonly isKept: boolean;
  readonly a: number;
  readonly aEnd: number;
  readonly b: number;
  readonly bEnd: number;
}

function matchingBlocks(a: readonly string[], b: readonly string[]): readonly Block[] | undefined {
  const places = placesOf(b);
  const blocks: Block[] = [];
  const budget = { steps: diffStepsMax };
  const visit = (aStart: number, aEnd: number, bStart: number, bEnd: number): void => {
    if (budget.steps < 0) return;
    const found = longestMatch({ a, b, places, aStart, aEnd, bStart, bEnd, budget });
    if (found.size === 0) return;
    if (aStart < found.a && bStart < found.b) visit(aStart, found.a, bStart, found.b);
    blocks.push(found);
    const [aNext, bNext] = [found.a + found.size, found.b + found.size];
    if (aNext < aEnd && bNext < bEnd) visit(aNext, aEnd, bNext, bEnd);
  };
  visit(0, a.length, 0, b.length);
  if (budget.steps < 0) return undefined;
  return [...joined(blocks), { a: a.length, b: b.length, size: 0 }];
}

/** Where each line stands. Lines that stand everywhere tell nothing, and are left out of long texts. */
function placesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const known = places.get(line);
    if (known === undefined) places.set(line, [index]);
    else known.push(index);
  }
  if (lines.length < 200) return places;
  const often = Math.floor(lines.length / 100) + 1;
  return new Map([...places].filter(([, indices]) => indices.length <= often));
}

interface Search {
  readonly a: readonly string[];
  readonly b: readonly string[];
  readonly places: ReadonlyMap<string, readonly number[]>;
  readonly aStart: number;
  readonly aEnd: number;
  readonly bStart: number;
  readonly bEnd: number;
  /** What is left of it; less than nothing ends the search. */
  readonly budget: { steps: number };
}

function longestMatch({ a, b, places, aStart, aEnd, bStart, bEnd, budget }: Search): Block {
  let [bestA, bestB, size] = [aStart, bStart, 0];
  let lengths = new Map<number, number>();
  for (let i = aStart; i < aEnd && budget.steps >= 0; i++) {
    const next = new Map<number, number>();
    budget.steps -= 1;
    for (const j of places.get(a[i] ?? "") ?? []) {
      budget.steps -= 1;
      if (j < bStart) continue;
      if (j >= bEnd) break;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) [bestA, bestB, size] = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  while (bestA > aStart && bestB > bStart && a[bestA - 1] === b[bestB - 1]) {
    bestA -= 1;
    bestB -= 1;
    size += 1;
  }
  while (bestA + size < aEnd && bestB + size < bEnd && a[bestA + size] === b[bestB + size])
    size += 1;
  return { a: bestA, b: bestB, size };
}

function joined(blocks: readonly Block[]): readonly Block[] {
  const result: Block[] = [];
  for (const block of blocks) {
    const last = result.at(-1);
    if (last !== undefined && last.a + last.size === block.a && last.b + last.size === block.b) {
      result[result.length - 1] = { ...last, size: last.size + block.size };
    } else result.push(block);
  }
  return result;
}

function changes(blocks: readonly Block[]): readonly Change[] {
  const result: Change[] = [];
  let [a, b] = [0, 0];
  for (const block of blocks) {
    if (a < block.a || b < block.b) {
      result.push({ isKept: false, a, aEnd: block.a, b, bEnd: block.b });
    }
    [a, b] = [block.a + block.size, block.b + block.size];
    if (block.size > 0) result.push({ isKept: true, a: block.a, aEnd: a, b: block.b, bEnd: b });
  }
  return result;
}

/** Changes that are near each other, with a few kept lines around. */
function groups(all: readonly Change[]): readonly (readonly Change[])[] {
  const trimmed = all.map((change, index) => {
    if (!change.isKept) return change;
    const { a, aEnd, b, bEnd } = change;
    if (index === 0) {
      return { ...change, a: Math.max(a, aEnd - context), b: Math.max(b, bEnd - context) };
    }
    if (index === all.length - 1) {
      return { ...change, aEnd: Math.min(aEnd, a + context), bEnd: Math.min(bEnd, b + context) };
    }
    return change;
  });
  const result: Change[][] = [];
  let group: Change[] = [];
  for (const change of trimmed) {
    const { isKept, a, aEnd, b, bEnd } = change;
    if (isKept && aEnd - a > 2 * context) {
      group.push({ ...change, aEnd: a + context, bEnd: b + context });
      result.push(group);
      group = [{ ...change, a: aEnd - context, b: bEnd - context }];
    } else group.push(change);
  }
  if (group.length > 0) result.push(group);
  return result.filter((own) => own.some((change) => !change.isKept));
}

function range(start: number, end: number): string {
  const length = end - start;
  if (length === 1) return String(start + 1);
  return `${length === 0 ? start : start + 1},${length}`;
}
