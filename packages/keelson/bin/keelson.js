#!/usr/bin/env node
// Plain JavaScript that any Node can read, so that an old one can say that it is too old.

const needed = 24;
const found = Number(process.versions.node.split(".")[0]);

if (found < needed) {
  process.stderr.write(
    `keelson: this is Node ${process.versions.node}, and Node ${needed} or newer is needed: ` +
      "run it with npm start, which brings its own, or install a newer one\n",
  );
  process.exitCode = 1;
} else {
  await limitMemory();
  // Sources are stripped of their types and compiled once, not at every start. Beside the packages, not in the
  // folder for temporary files, where others could have prepared something; where it cannot be written it is left.
  const { enableCompileCache } = await import("node:module");
  const { fileURLToPath } = await import("node:url");
  enableCompileCache(
    fileURLToPath(new URL("../../../node_modules/.cache/keelson", import.meta.url)),
  );
  const { main } = await import("../src/main.ts");
  await main();
}

/**
 * By itself Node lets a busy server's youngest objects take more than 100 MB, and the rest grow to twice what is in use,
 * before it looks for what can go. Set before anything is loaded; whoever sets these flags decides.
 */
async function limitMemory() {
  const serving = ["apiserver", "up"].includes(process.argv[2] ?? "up");
  const said = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  if (!serving || /semi-space-size|old-space-size|heap-growing-percent/.test(said)) return;
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--max-semi-space-size=16");
  setFlagsFromString("--heap-growing-percent=60");
  // Node would put objects that often outlive a collection of the youngest straight among the old. Parts of requests that
  // wait for their batch do, and from there they keep the rest of their request: a quarter of all garbage became old.
  setFlagsFromString("--no-allocation-site-pretenuring");
}
