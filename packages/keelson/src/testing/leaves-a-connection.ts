// A program that serves nothing, and leaves a connection behind that it has ended and its peer has not.

import { once } from "node:events";
import { connect } from "node:net";
import { untilStopped } from "../commands/until-stopped.ts";
import { loadSettings } from "./settings.ts";

const [, , port, how] = process.argv;
const config = await loadSettings();
await untilStopped({ config, exit: (code = process.exitCode) => process.exit(code) }, async () => {
  const socket = connect(Number(port), "127.0.0.1");
  await once(socket, "connect");
  socket.end();
  if (how === "with an error") throw new Error("it could not start");
}).catch(() => (process.exitCode = 1));
