// Commands as a person types them, each a process of its own, which finds the server by its data folder.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { entry } from "./keelson-process.ts";

export interface TypedProcess {
  readonly code: number;
  readonly out: string;
  readonly said: string;
}

export interface TypingOptions {
  /** Where the server keeps its data. */
  readonly dataDir: string;
  /** Where commands are typed. */
  readonly folder: string;
}

export interface TypeOptions {
  /** Hears what is printed so far as it comes; an answer of true is Ctrl-C. */
  readonly onOutput?: (out: string) => boolean;
}

/** Types lines; `signal` kills what does not end. */
export function typingAt({ dataDir, folder }: TypingOptions, signal: AbortSignal) {
  return async (line: string, { onOutput }: TypeOptions = {}): Promise<TypedProcess> => {
    const child = spawn(process.execPath, [entry, ...line.split(" ")], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", KEELSON_DATA_DIR: dataDir },
      stdio: ["ignore", "pipe", "pipe"],
      signal,
    });
    let [out, said] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text;
      if (onOutput?.(out) === true) child.kill("SIGINT");
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
    const [code, killedBy] = (await once(child, "close")) as [number | null, string | null];
    if (code === null) throw new Error(`${line} was ended by ${killedBy}\n${out}${said}`);
    return { code, out, said };
  };
}
