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
  limitMemory();
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
 * before it looks for what can go. It takes the first of these flags only when it starts, so the process begins once more, as
 * the same process; where that cannot be done it goes on as it is. Whoever sets such flags decides.
 */
function limitMemory() {
  const [, script, ...words] = process.argv;
  const asksForHelp = words.some((word) => word === "--help" || word === "-h");
  const serving = !asksForHelp && ["apiserver", "serve", "up"].includes(words[0]);
  const said = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].join(" ");
  if (!serving || /semi-space-size|old-space-size|heap-growing-percent/.test(said)) return;
  const flags = [
    "--max-semi-space-size=16",
    "--heap-growing-percent=60",
    // Node would put objects that often outlive a collection of the youngest straight among the old. Parts of requests that
    // wait for their batch do, and from there they keep the rest of their request: a quarter of all garbage became old.
    "--no-allocation-site-pretenuring",
  ];
  try {
    process.execve(process.execPath, [
      process.execPath,
      ...flags,
      ...process.execArgv,
      script,
      ...words,
    ]);
  } catch {
    // Not on this platform.
  }
}
