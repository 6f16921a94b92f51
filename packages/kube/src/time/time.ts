// Points in time as objects hold them: `Time` to the second, `MicroTime` with six decimals, both in UTC.

import { quoteBytes } from "../go-text/quote.ts";

/** A text that is no time. The message is Go's. */
export class BadTime extends Error {
  readonly code = "BAD_TIME";

  constructor(message: string) {
    super(message);
    this.name = "BadTime";
  }
}

/** A point in time. */
export interface Instant {
  /** Whole seconds since 1970. */
  readonly seconds: number;
  readonly nanoseconds: number;
}

const timeLayout = "2006-01-02T15:04:05Z07:00";
const microTimeLayout = "2006-01-02T15:04:05.000000Z07:00";

/** Reads a `Time`: RFC 3339 with any offset; fractions of a second may follow. Throws a `BadTime`. */
export function parseTime(text: string): Instant {
  return new Reader(text, timeLayout).read();
}

/** Reads a `MicroTime`, which has exactly six decimals. Throws a `BadTime`. */
export function parseMicroTime(text: string): Instant {
  return new Reader(text, microTimeLayout).read();
}

/** A `Time`: in UTC, to the second, fractions dropped. */
export function printTime({ seconds }: Instant): string {
  return `${printSeconds(seconds)}Z`;
}

/** A `MicroTime`: in UTC, always with six decimals. */
export function printMicroTime({ seconds, nanoseconds }: Instant): string {
  const micros = Math.floor(nanoseconds / 1000);
  return `${printSeconds(seconds)}.${String(micros).padStart(6, "0")}Z`;
}

/** A `Time` from a clock. */
export function timeFromMs(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  // Writes ask several times each, thousands of them within one second.
  if (seconds !== lastPrinted.seconds) {
    lastPrinted.text = printTime({ seconds, nanoseconds: 0 });
    lastPrinted.seconds = seconds;
  }
  return lastPrinted.text;
}

const lastPrinted = { seconds: 0, text: "1970-01-01T00:00:00Z" };

/** A `MicroTime` from a clock. */
export function microTimeFromMs(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return printMicroTime({ seconds, nanoseconds: Math.floor((ms - seconds * 1000) * 1e6) });
}

/** Whether it is the time that stands for none, which is written as null. */
export function isZeroTime({ seconds, nanoseconds }: Instant): boolean {
  return seconds === zeroSeconds && nanoseconds === 0;
}

const zeroSeconds = -62_135_596_800;

class Reader {
  readonly #text: string;
  readonly #layout: string;
  #position = 0;

  constructor(text: string, layout: string) {
    this.#text = text;
    this.#layout = layout;
  }

  read(): Instant {
    const year = this.#digits(4, "2006");
    this.#literal("-");
    const month = this.#digits(2, "01");
    if (month < 1 || month > 12) this.#outOfRange("month");
    this.#literal("-");
    const day = this.#digits(2, "02");
    this.#literal("T");
    const hour = this.#hour();
    if (hour > 23) this.#outOfRange("hour");
    this.#literal(":");
    const minute = this.#digits(2, "04");
    if (minute > 59) this.#outOfRange("minute");
    this.#literal(":");
    const second = this.#digits(2, "05");
    if (second > 59) this.#outOfRange("second");
    const nanoseconds = this.#fraction();
    const offsetMinutes = this.#offset();
    if (this.#position < this.#text.length) {
      throw new BadTime(
        `parsing time ${quoteBytes(this.#text)}: extra text: ${quoteBytes(this.#text.slice(this.#position))}`,
      );
    }
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    date.setUTCHours(hour, minute, second);
    if (day < 1 || date.getUTCDate() !== day) this.#outOfRange("day");
    return { seconds: date.getTime() / 1000 - offsetMinutes * 60, nanoseconds };
  }

  #digits(count: number, element: string): number {
    const part = this.#text.slice(this.#position, this.#position + count);
    if (part.length !== count || !/^\d+$/.test(part)) this.#cannotParse(element);
    this.#position += count;
    return Number(part);
  }

  /** Go takes one digit too. */
  #hour(): number {
    const isShort = /^\d(?!\d)/.test(this.#text.slice(this.#position, this.#position + 2));
    return this.#digits(isShort ? 1 : 2, "15");
  }

  #literal(character: string): void {
    if (this.#text.charAt(this.#position) !== character) this.#cannotParse(character);
    this.#position += 1;
  }

  #fraction(): number {
    const rest = this.#text.slice(this.#position);
    const isMicro = this.#layout === microTimeLayout;
    const [all = "", digits = ""] = (isMicro ? /^[.,](\d{6})/ : /^[.,](\d+)/).exec(rest) ?? [];
    if (isMicro && all === "") this.#cannotParse(".000000");
    this.#position += all.length;
    return Number(digits.slice(0, 9).padEnd(9, "0"));
  }

  #offset(): number {
    const rest = this.#text.slice(this.#position);
    if (rest.startsWith("Z")) {
      this.#position += 1;
      return 0;
    }
    const match = /^([+-])(\d\d):(\d\d)/.exec(rest);
    if (match === null) this.#cannotParse("Z07:00");
    const [all = "", sign = "+", hours = "0", minutes = "0"] = match;
    if (Number(hours) > 24) this.#outOfRange("time zone offset hour");
    if (Number(minutes) > 60) this.#outOfRange("time zone offset minute");
    this.#position += all.length;
    return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  }

  #cannotParse(element: string): never {
    const rest = quoteBytes(this.#text.slice(this.#position));
    throw new BadTime(
      `parsing time ${quoteBytes(this.#text)} as ${quoteBytes(this.#layout)}: cannot parse ${rest} as ${quoteBytes(element)}`,
    );
  }

  #outOfRange(what: string): never {
    throw new BadTime(`parsing time ${quoteBytes(this.#text)}: ${what} out of range`);
  }
}

/** Go writes years before 0 and after 9999 without padding them to six digits. */
function printSeconds(seconds: number): string {
  const text = new Date(seconds * 1000).toISOString().slice(0, -5);
  return text.replace(/^\+0/, "").replace(/^-00/, "-");
}
