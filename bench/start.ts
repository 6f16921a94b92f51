// How long a user waits after `keelson up`: the first time, and every other time.

import { fileURLToPath } from "node:url";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./measure.ts";
import { judged, type Row } from "./report.ts";
import { numberOf, type Run } from "./suite.ts";

const entry = fileURLToPath(new URL("../packages/keelson/bin/keelson.js", import.meta.url));
const coldGoalS = 5;
const warmGoalS = 2;

/** Rows: seconds from starting the process to `/readyz` answering, cold and warm; and to an end after SIGTERM. */
export async function bench(run: Run): Promise<readonly Row[]> {
  const rounds = numberOf(run, "rounds", run.isQuick ? 1 : 5);
  const cold: number[] = [];
  const warm: number[] = [];
  const stop: number[] = [];
  for (let round = 0; round < rounds; round++) {
    run.signal.throwIfAborted();
    run.say(`round ${round + 1} of ${rounds}`);
    const folder = await mkdtemp(join(tmpdir(), "keelson-bench-"));
    await chmod(folder, 0o711);
    try {
      for (const measured of [cold, warm]) {
        const { startedS, stoppedS } = await startAndStop(folder);
        measured.push(startedS);
        stop.push(stoppedS);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return [
    judged(
      { name: "start, cold, to ready", value: median(cold), unit: "s" },
      { atMost: coldGoalS },
    ),
    judged(
      { name: "start, warm, to ready", value: median(warm), unit: "s" },
      { atMost: warmGoalS },
    ),
    judged({ name: "stop, idle", value: median(stop), unit: "s" }),
  ];
}

async function startAndStop(dataDir: string): Promise<{ startedS: number; stoppedS: number }> {
  const begun = performance.now();
  const anyPorts = ["port", "kube-port", "metrics-port"].flatMap((name) => [`--${name}`, "0"]);
  const args = [entry, "up", "--data-dir", dataDir, ...anyPorts];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: dataDir,
  });
  const ended = once(child, "close");
  const url = await new Promise<string>((resolve, reject) => {
    let shown = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      const [, url] = /REST API +(\S+)/.exec(shown) ?? [];
      if (url !== undefined) resolve(url);
    });
    void ended.then(() => reject(new Error(`it ended before it was ready\n${shown}`)));
  });
  const { status } = await fetch(`${url}/readyz`);
  if (status !== 200) throw new Error(`/readyz answered ${status}`);
  const ready = performance.now();
  child.kill("SIGTERM");
  await ended;
  return { startedS: (ready - begun) / 1_000, stoppedS: (performance.now() - ready) / 1_000 };
}
