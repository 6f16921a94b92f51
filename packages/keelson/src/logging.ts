// Log lines by pino: JSON for machines, one short line for people.

import { writeSync } from "node:fs";
import type { Log, LogLevel } from "@keelson/base";
import { pino, type DestinationStream, type Logger } from "pino";

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: "json" | "text";
  /** Where lines go; standard error unless told. */
  readonly write?: (line: string) => void;
}

/**
 * A log of the process. An error goes under `error`, with its stack and its causes; a field that is called like a part of
 * every line goes under that name with a `_`, so that neither hides the other.
 */
export function newLog({ level, format, write = writeToStandardError }: LogOptions): Log {
  const stream: DestinationStream = {
    write: format === "json" ? write : (line) => write(readable(line)),
  };
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    stream,
  );
  return logOf(logger);
}

function logOf(logger: Logger): Log {
  return {
    debug: (fields, message) => logger.debug(besideParts(fields), message),
    info: (fields, message) => logger.info(besideParts(fields), message),
    warn: (fields, message) => logger.warn(besideParts(fields), message),
    error: (fields, message) => logger.error(besideParts(fields), message),
    child: (fields) => logOf(logger.child(besideParts(fields))),
  };
}

/** What every line has. */
const parts: readonly string[] = ["level", "time", "message"];

function besideParts(fields: object): object {
  if (!parts.some((part) => Object.hasOwn(fields, part))) return fields;
  const renamed = Object.entries(fields).map(([key, value]) => [
    parts.includes(key) ? `${key}_` : key,
    value,
  ]);
  return Object.fromEntries(renamed);
}

/** Never throws: a log that cannot be written must not end what it tells about. */
function writeToStandardError(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // The reader went away, or is too slow for this line.
  }
}

/** `10:12:03 warn  message  key=value`; an error's stack follows on lines of its own. */
function readable(line: string): string {
  const { time, level, message, error, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 19);
  const pairs = Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`);
  const { message: reason, stack } = (error ?? {}) as { message?: string; stack?: string };
  if (reason !== undefined) pairs.push(`error=${shown(reason)}`);
  const head = `${clock} ${String(level).padEnd(5)} ${String(message)}`;
  const tail = level === "error" && stack !== undefined ? `\n${stack}` : "";
  return `${[head, ...pairs].join("  ")}${tail}\n`;
}

function shown(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
