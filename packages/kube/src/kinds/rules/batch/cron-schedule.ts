// Schedules of CronJobs: five fields or a word, and why a text is none.

import { quote } from "../../../go-text/quote.ts";
import { fieldsOf, trimSpace } from "../../../go-text/trim-space.ts";
import { BadDuration, parseDuration } from "../../../time/duration.ts";
import { isTimeZone } from "./time-zones.ts";

/** What is wrong with a schedule; undefined if it is one. */
export function scheduleProblem(schedule: string): string | undefined {
  let text = schedule;
  if (/^(CRON_)?TZ=/.test(text)) {
    const space = text.indexOf(" ");
    // The real server's parser breaks here; what it then says is a fact of its own.
    if (space < 0) {
      return "invalid schedule format: runtime error: slice bounds out of range [:-1]";
    }
    const zone = text.slice(text.indexOf("=") + 1, space);
    const problem = zoneProblem(zone);
    if (problem !== undefined) return `provided bad location ${zone}: ${problem}`;
    text = trimSpace(text.slice(space));
  }
  if (text.startsWith("@")) return descriptorProblem(text);
  const fields = fieldsOf(text);
  if (fields.length !== bounds.length) {
    return `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`;
  }
  for (const [index, own] of bounds.entries()) {
    for (const part of (fields[index] ?? "").split(",").filter((each) => each !== "")) {
      const problem = rangeProblem(part, own);
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

function zoneProblem(name: string): string | undefined {
  if (isTimeZone(name)) return undefined;
  const isOutside = name.includes("..") || /^[\\/]/.test(name);
  return isOutside ? "time: invalid location name" : `unknown time zone ${name}`;
}

interface Bounds {
  readonly min: bigint;
  readonly max: bigint;
  readonly names?: readonly string[];
}

const months = [
  "",
  "jan",
  "feb",
  "mar",
  "apr",
  "may",
  "jun",
  "jul",
  "aug",
  "sep",
  "oct",
  "nov",
  "dec",
];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const bounds: readonly Bounds[] = [
  { min: 0n, max: 59n },
  { min: 0n, max: 23n },
  { min: 1n, max: 31n },
  { min: 1n, max: 12n, names: months },
  { min: 0n, max: 6n, names: days },
];

const descriptors: ReadonlySet<string> = new Set([
  "@yearly",
  "@annually",
  "@monthly",
  "@weekly",
  "@daily",
  "@midnight",
  "@hourly",
]);

function descriptorProblem(text: string): string | undefined {
  if (descriptors.has(text)) return undefined;
  if (!text.startsWith("@every ")) return `unrecognized descriptor: ${text}`;
  try {
    parseDuration(text.slice("@every ".length));
    return undefined;
  } catch (error) {
    if (!(error instanceof BadDuration)) throw error;
    return `failed to parse duration ${text}: ${error.message}`;
  }
}

function rangeProblem(part: string, own: Bounds): string | undefined {
  const [range = "", ...steps] = part.split("/");
  const [low = "", ...highs] = range.split("-");
  let [start, end] = [own.min, own.max];
  if (low !== "*" && low !== "?") {
    const first = readNumber(low, own.names);
    if (typeof first === "string") return first;
    start = first;
    end = first;
    if (highs.length > 1) return `too many hyphens: ${part}`;
    if (highs.length === 1) {
      const last = readNumber(highs[0] ?? "", own.names);
      if (typeof last === "string") return last;
      end = last;
    }
  }
  let step = 1n;
  if (steps.length === 1) {
    const read = readNumber(steps[0] ?? "");
    if (typeof read === "string") return read;
    step = read;
    if (highs.length === 0) end = own.max;
  } else if (steps.length > 1) return `too many slashes: ${part}`;
  if (start < own.min) return `beginning of range (${start}) below minimum (${own.min}): ${part}`;
  if (end > own.max) return `end of range (${end}) above maximum (${own.max}): ${part}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`;
  return step === 0n ? `step of range should be a positive number: ${part}` : undefined;
}

/** The number, or why it is none. */
function readNumber(text: string, names?: readonly string[]): bigint | string {
  const named = text === "" ? -1 : (names?.indexOf(text.toLowerCase()) ?? -1);
  if (named >= 0) return BigInt(named);
  if (!/^[+-]?[0-9]+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: invalid syntax`;
  }
  const value = integerOf(text);
  if (value === undefined) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${quote(text)}: value out of range`;
  }
  return value < 0n ? `negative number (${value}) not allowed: ${text}` : value;
}

/** 64 bits; undefined for more. */
function integerOf(text: string): bigint | undefined {
  const digits = text.replace(/^([+-]?)0+(?=[0-9])/, "$1").replace(/^\+/, "");
  if (digits.length > 20) return undefined;
  const value = BigInt(digits);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
