import type { Log, LogLevel } from "../log.ts";

/** A line as it was logged, with the fields of its loggers. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that remembers every line, those of its children too. */
export class RecordingLog implements Log {
  readonly #entries: LogEntry[] = [];
  readonly #log = recordInto(this.#entries, {});

  /** All lines, oldest first. */
  get entries(): readonly LogEntry[] {
    return this.#entries;
  }

  /** The messages logged at `level`, or at any. */
  messages(level?: LogLevel): string[] {
    return this.#entries
      .filter((entry) => level === undefined || entry.level === level)
      .map(({ message }) => message);
  }

  debug(fields: object, message: string): void {
    this.#log.debug(fields, message);
  }

  info(fields: object, message: string): void {
    this.#log.info(fields, message);
  }

  warn(fields: object, message: string): void {
    this.#log.warn(fields, message);
  }

  error(fields: object, message: string): void {
    this.#log.error(fields, message);
  }

  child(fields: object): Log {
    return this.#log.child(fields);
  }
}

function recordInto(entries: LogEntry[], inherited: object): Log {
  const at = (level: LogLevel) => (fields: object, message: string) => {
    entries.push({ level, message, fields: { ...inherited, ...fields } });
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => recordInto(entries, { ...inherited, ...fields }),
  };
}
