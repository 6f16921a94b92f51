// Google's own emulator of Pub/Sub, from the Google Cloud SDK, and a network in front of it that can fail.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { systemClock } from "@keelson/base";
import { findFreePorts } from "../tools/ports.ts";

const never = new AbortController().signal;

/** The emulator's program, by the root of the SDK; or what is missing. */
function findEmulator(): { readonly program?: string; readonly missing?: string } {
  const which = (name: string): string | undefined => {
    try {
      return execFileSync("which", [name], { encoding: "utf8", stdio: "pipe" }).trim();
    } catch {
      return undefined;
    }
  };
  const gcloud = which("gcloud");
  const root =
    process.env["CLOUDSDK_ROOT_DIR"] ??
    (gcloud === undefined ? undefined : dirname(dirname(realpathSync(gcloud))));
  if (root === undefined) return { missing: "the Google Cloud SDK is not installed" };
  const program = join(root, "platform/pubsub-emulator/bin/cloud-pubsub-emulator");
  if (!existsSync(program)) return { missing: "the Google Cloud SDK has no Pub/Sub emulator" };
  if (which("java") === undefined) return { missing: "the Pub/Sub emulator needs Java" };
  return { program };
}

// Google's client looks for the identity of the machine it runs on, which here is nobody's business.
process.env["METADATA_SERVER_DETECTION"] ??= "none";

const found = findEmulator();

/** Why tests on the emulator are skipped; false where they run. */
export const withoutEmulator: string | false = found.missing ?? false;

export interface Emulator extends AsyncDisposable {
  readonly host: string;
}

let shared: Promise<Emulator> | undefined;

/** One for all tests of this process, stopped with it; projects keep them apart. */
export function sharedEmulator(): Promise<Emulator> {
  shared ??= startEmulator();
  return shared;
}

async function startEmulator(): Promise<Emulator> {
  const [port = 0] = await findFreePorts(1);
  const child = spawn(found.program ?? "", [`--host=127.0.0.1`, `--port=${port}`], {
    stdio: ["ignore", "ignore", "pipe"],
    // Its own group: the script starts Java, and both have to go.
    detached: true,
  });
  const stop = (): void => killGroup(child);
  process.once("exit", stop);
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Server started")) resolve();
    });
    child.once("exit", () => reject(new Error(`the emulator ended: ${said.slice(-2_000)}`)));
  });
  child.unref();
  child.stderr.destroy();
  return {
    host: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      process.removeListener("exit", stop);
      killGroup(child);
    },
  };
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

/** A wire that lets everything through, refuses, or takes everything and says nothing. */
export class FaultyWire implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: string;
  readonly #sockets = new Set<Socket>();
  #mode: "pass" | "refuse" | "hang" = "pass";

  private constructor(server: Server, target: string) {
    this.#server = server;
    this.#target = target;
  }

  static async to(target: string): Promise<FaultyWire> {
    const server = createServer();
    const wire = new FaultyWire(server, target);
    server.on("connection", (socket) => wire.#accept(socket));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return wire;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on, for open connections too. */
  set mode(mode: "pass" | "refuse" | "hang") {
    this.#mode = mode;
    for (const socket of this.#sockets) {
      // What hung was swallowed in part: such a connection is of no use any more.
      if (mode === "hang") socket.pause().unpipe();
      else socket.destroy();
    }
  }

  #accept(socket: Socket): void {
    if (this.#mode === "refuse") {
      socket.destroy();
      return;
    }
    const forget = (): void => void this.#sockets.delete(socket);
    this.#sockets.add(socket);
    socket.on("error", forget).on("close", forget);
    if (this.#mode === "hang") {
      socket.pause();
      return;
    }
    const [host = "", port] = this.#target.split(":");
    const other = connect(Number(port), host);
    this.#sockets.add(other);
    other.on("error", () => socket.destroy()).on("close", () => this.#sockets.delete(other));
    socket.on("close", () => other.destroy());
    other.on("close", () => socket.destroy());
    socket.pipe(other).pipe(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await systemClock.sleep(0, never);
  }
}
