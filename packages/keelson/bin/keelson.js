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
  const { main } = await import("../src/main.ts");
  await main();
}
