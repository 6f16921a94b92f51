import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { ManualClock, RecordingLog, RecordingMetrics } from "@keelson/base/testing";
import { AuditLog } from "./audit-log.ts";
import { StartError } from "./start-error.ts";

suite("audit log", () => {
  test("lines are appended whole, in their order, to a file that is for nobody else", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "audit.jsonl");
    for (const first of [0, 1_000]) {
      await using audit = await AuditLog.open({ path, ...parts() });
      for (let line = first; line < first + 1_000; line += 1) audit.write(`${line}\n`);
    }
    const lines = readFileSync(path, "utf8").split("\n");
    assert.deepEqual(lines, [...Array.from({ length: 2_000 }, (_, line) => String(line)), ""]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test("a file that was renamed is made anew within a second of the next line", async () => {
    using folder = temporaryFolder();
    const [path, old] = [join(folder.path, "audit.jsonl"), join(folder.path, "audit.jsonl.1")];
    const shared = parts();
    await using audit = await AuditLog.open({ path, ...shared });
    await written(audit, shared.metrics, "before\n");
    renameSync(path, old);
    await shared.clock.advance(1_000);
    await written(audit, shared.metrics, "after\n");
    assert.deepEqual(
      [old, path].map((name) => readFileSync(name, "utf8")),
      ["before\n", "after\n"],
    );
  });

  test("a full disk delays lines, and costs those beyond the bound, and never a caller", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "audit.jsonl");
    symlinkSync("/dev/full", path);
    const shared = parts();
    await using audit = await AuditLog.open({ path, ...shared });
    const line = `${"x".repeat(1024 * 1024 - 1)}\n`;
    // One piece is on its way, sixteen wait.
    for (let count = 0; count < 20; count += 1) {
      audit.write(line);
      await new Promise(setImmediate);
    }
    // Of the first piece, as soon as the system has had its turn.
    const isTold = (): boolean => shared.log.messages("error").length > 1;
    while (!isTold()) await new Promise(setImmediate);
    const dropped = shared.metrics.value("keelson_audit_dropped_total") ?? 0;
    assert.ok(dropped >= 3 && dropped <= 4, `${dropped} lines were dropped`);
    assert.deepEqual(shared.log.messages("error").toSorted(), [
      "audit lines are dropped",
      "the audit log cannot be written",
    ]);

    rmSync(path);
    for (;;) {
      await shared.clock.advance(1_000);
      await new Promise(setImmediate);
      if (shared.metrics.value("keelson_audit_lines_total") === 20 - dropped) break;
    }
    assert.equal(statSync(path).size, (20 - dropped) * line.length);
    assert.ok(shared.log.messages("info").includes("the audit log is written again"));
  });

  test("a path that cannot be written is told at the start", async () => {
    using folder = temporaryFolder();
    for (const [path, reason] of [
      [join(folder.path, "none", "audit.jsonl"), /its folder is not there/],
      [folder.path, /it is a folder/],
    ] as const) {
      await assert.rejects(
        AuditLog.open({ path, ...parts() }),
        (error) => error instanceof StartError && reason.test(error.message),
      );
    }
  });
});

function parts() {
  return { clock: new ManualClock(), log: new RecordingLog(), metrics: new RecordingMetrics() };
}

/** Resolves when the line is in the file. */
async function written(audit: AuditLog, metrics: RecordingMetrics, line: string): Promise<void> {
  const before = metrics.value("keelson_audit_lines_total");
  audit.write(line);
  while (metrics.value("keelson_audit_lines_total") === before) await new Promise(setImmediate);
}

function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "keelson-audit-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}
