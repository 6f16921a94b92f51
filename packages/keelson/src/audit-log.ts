// Where audit lines go: appended to a file, or to standard output. Requests never wait for it.

import { write } from "node:fs";
import { open, stat, type FileHandle } from "node:fs/promises";
import type { Clock, Log, Metrics, SingleCounter } from "@keelson/base";
import { StartError } from "./start-error.ts";

/** Standard output, where a path is expected. */
export const standardOutput = "-";

/** Lines that wait to be written, in bytes; what comes on top is dropped and counted. */
const waitingBytesMax = 16 * 1024 * 1024;
/** One call of the operating system gets at most so much. */
const pieceBytesMax = 1024 * 1024;
/** How long after a failure it is tried again. */
const retryMs = 1_000;
/** The same for a reader that has not yet taken what it was given. */
const busyMs = 20;
/** How often it is asked whether the file is still the one of that name. */
const lookMs = 1_000;
/** How long the end waits for what is left. */
const lastWordsMs = 2_000;

export interface AuditLogOptions {
  /** A path, or `standardOutput`. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/**
 * Lines in the order in which they were given, each whole. One that finds 16 MiB waiting is dropped: a disk that is
 * full or slow costs lines, never a request. A file that was renamed or removed is made anew under its name.
 */
export class AuditLog implements AsyncDisposable {
  readonly #options: AuditLogOptions;
  readonly #written: SingleCounter;
  readonly #dropped: SingleCounter;
  readonly #ending = new AbortController();
  #file: FileHandle | undefined;
  #lookedAtMs = -Infinity;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isDropping = false;
  #writing: Promise<void> | undefined;

  /** None where no path is given. Throws as `open` does. */
  static async openIfWanted(
    path: string | undefined,
    parts: Omit<AuditLogOptions, "path">,
  ): Promise<AuditLog | undefined> {
    return path === undefined ? undefined : AuditLog.open({ ...parts, path });
  }

  /** Throws a `StartError` where the file cannot be written. */
  static async open(options: AuditLogOptions): Promise<AuditLog> {
    const auditLog = new AuditLog(options);
    const { path } = options;
    try {
      if (path !== standardOutput) await auditLog.#keepOpen(path);
    } catch (error) {
      throw new StartError("USAGE", `the audit log ${path} cannot be written: ${reasonOf(error)}`, {
        cause: error,
      });
    }
    return auditLog;
  }

  private constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#written = options.metrics.counter({
      name: "keelson_audit_lines_total",
      help: "Audit lines written",
    });
    this.#dropped = options.metrics.counter({
      name: "keelson_audit_dropped_total",
      help: "Audit lines lost because too many waited to be written",
    });
  }

  /** Takes a line, which ends with a newline, or drops it. Never throws, never waits. */
  write(line: string): void {
    const bytes = Buffer.from(line);
    if (this.#waitingBytes + bytes.byteLength > waitingBytesMax || this.#ending.signal.aborted) {
      this.#dropped.add();
      if (!this.#isDropping) this.#options.log.error({}, "audit lines are dropped");
      this.#isDropping = true;
      return;
    }
    this.#isDropping = false;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.byteLength;
    this.#writing ??= this.#writeAll();
  }

  /** Writes what waits, for two seconds at most, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    using _patience = this.#options.clock.after(lastWordsMs, () => this.#ending.abort());
    await this.#writing;
    this.#ending.abort();
    await this.#file?.close();
    this.#file = undefined;
  }

  async #writeAll(): Promise<void> {
    // Whatever else ends in this turn of the event loop goes out with the first line.
    await Promise.resolve();
    while (this.#waiting.length > 0 && !this.#ending.signal.aborted) {
      const lines = this.#take();
      await this.#writePiece(Buffer.concat(lines));
      if (!this.#ending.signal.aborted) this.#written.add(lines.length);
    }
    this.#writing = undefined;
  }

  #take(): Buffer[] {
    let bytes = 0;
    let count = 0;
    for (const line of this.#waiting) {
      if (count > 0 && bytes + line.byteLength > pieceBytesMax) break;
      bytes += line.byteLength;
      count += 1;
    }
    this.#waitingBytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  /** Tries until the whole piece is written, so that no line is ever half, or nobody waits any more. */
  async #writePiece(piece: Buffer): Promise<void> {
    const { clock, log, path } = this.#options;
    let hasFailed = false;
    for (let at = 0; at < piece.byteLength;) {
      try {
        // Between lines only: the rest of a line belongs behind its beginning.
        if (at === 0 && path !== standardOutput) await this.#keepOpen(path);
        at += await writeTo(this.#file?.fd ?? standardOutputFd, piece, at);
      } catch (error) {
        if (this.#ending.signal.aborted) return;
        const isBusy = codeOf(error) === "EAGAIN";
        if (!hasFailed && !isBusy) log.error({ error, path }, "the audit log cannot be written");
        hasFailed ||= !isBusy;
        await clock.sleep(isBusy ? busyMs : retryMs, this.#ending.signal).catch(() => undefined);
        if (this.#ending.signal.aborted) return;
      }
    }
    if (hasFailed) log.info({ path }, "the audit log is written again");
  }

  /** Makes sure that what is open is the file of that name. */
  async #keepOpen(path: string): Promise<void> {
    const nowMs = this.#options.clock.monotonic();
    if (this.#file !== undefined && nowMs - this.#lookedAtMs < lookMs) return;
    this.#lookedAtMs = nowMs;
    if (this.#file !== undefined) {
      const [own, named] = await Promise.all([
        this.#file.stat(),
        stat(path).catch(() => undefined),
      ]);
      if (named?.ino === own.ino && named.dev === own.dev) return;
      await this.#file.close();
      this.#file = undefined;
    }
    this.#file = await open(path, "a", 0o600);
  }
}

const standardOutputFd = 1;

function writeTo(fd: number, piece: Buffer, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, piece, at, (error, count) => {
      if (error === null) resolve(count);
      else reject(error);
    });
  });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function reasonOf(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
      return "its folder is not there";
    case "EACCES":
    case "EROFS":
      return "we may not write there";
    case "EISDIR":
      return "it is a folder";
    default:
      return error instanceof Error ? error.message : String(error);
  }
}
