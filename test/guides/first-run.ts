#!/usr/bin/env node
// Writes docs/first-run.md: a first run from `git clone` to a repaired drift, as it went on this machine. Needs kubectl, git, and the ports
// that servers listen on by themselves.

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { availableParallelism, cpus, totalmem, type as system, arch } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../e2e/keelson-process.ts";
import { until } from "../tools/until.ts";
import { makePlaces } from "./places.ts";
import { Terminal } from "./terminal.ts";

const root = join(import.meta.dirname, "../..");
const address = "https://git.example.com/keelson.git";
const { signal } = new AbortController();

const manifest = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "nginx:1.27" }] }`;
const image = `kubectl get deployment web -o jsonpath='{.spec.template.spec.containers[0].image}{"\\n"}'`;

await using folder = await temporaryFolder();
const { environment } = await makePlaces(folder.path);
const work = join(folder.path, "work");
await mkdir(work);
const npm = (name: string): string =>
  execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim();
const reader = {
  ...environment,
  // What npm has fetched before, and where from, is this machine's business.
  npm_config_cache: npm("cache"),
  npm_config_registry: npm("registry"),
  npm_config_update_notifier: "false",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: `url.file://${root}.insteadOf`,
  GIT_CONFIG_VALUE_0: address,
};
await using one = new Terminal({ folder: work, environment: reader });
await using two = new Terminal({ folder: work, environment: reader });

const begunMs = performance.now();
let record = "";

/** Puts down what was typed where, when, and what was printed. */
function put(where: string, typed: string, printed: string): void {
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(1).padStart(6);
  const prompt = typed
    .split("\n")
    .map((line, index) => (index === 0 ? `[${where} ${seconds} s] $ ${line}` : `> ${line}`))
    .join("\n");
  record += `${prompt}\n${plain(printed)}`;
}

function plain(printed: string): string {
  const text = printed.replaceAll(folder.path, "~").trimEnd();
  return text === "" ? "" : `${text}\n`;
}

async function typeAt(terminal: Terminal, where: string, command: string): Promise<string> {
  terminal.type(command);
  const { printed, code } = await terminal.over(signal);
  put(where, command, printed);
  if (code !== 0) throw new Error(`${command} ended with ${code}\n${printed}`);
  return printed;
}

await typeAt(one, "1", `git clone -q ${address} keelson && cd keelson`);
await typeAt(one, "1", "npm ci --no-audit --no-fund");
one.type("npm start");
await one.says((printed) => /Stop +Ctrl-C/.test(printed), signal);
put("1", "npm start", one.printed);

await typeAt(two, "2", "cd keelson");
const settings = 'PATH="$PWD/node_modules/.bin:$PATH" KUBECONFIG="$PWD/.keelson/kubeconfig"';
await typeAt(two, "2", `export ${settings}`);
await typeAt(two, "2", `cat > web.yaml <<'END'\n${manifest}\nEND`);
await typeAt(two, "2", "keelson apply -f web.yaml --cluster local --wait");
await typeAt(two, "2", "kubectl set image deployment/web web=nginx:broken");
// As often as it takes, and put down each time.
await until(async () => (await typeAt(two, "2", image)).trim() === "nginx:1.27", signal);
await typeAt(two, "2", "keelson get");

one.interrupt();
const { printed } = await one.over(signal);
record += `[1] ^C\n${plain(printed)}`;

const version = (program: string, ...words: string[]): string =>
  execFileSync(program, words, { encoding: "utf8", env: environment }).trim().split("\n")[0] ?? "";
const machine = [
  `${system()} ${arch()}, ${availableParallelism()} × ${cpus()[0]?.model ?? "a processor"}`,
  `${Math.round(totalmem() / 2 ** 30)} GiB of memory`,
  `Node ${version("node", "--version")} before, kubectl: ${version("kubectl", "version", "--client")}`,
].join(", ");
const day = new Date().toISOString().slice(0, 10);
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], {
  cwd: root,
  encoding: "utf8",
});
writeFileSync(
  join(root, "docs/first-run.md"),
  `# A first run

From \`git clone\` to a repaired drift, as it went on ${day} at commit ${commit.trim()}, on
${machine}. \`npm run docs:first-run\` makes this
page by doing it; [the first ten minutes](guides/first-ten-minutes.md) explains what happens. In brackets: the terminal, and the seconds
since the beginning when a command was over; of what goes on running, when it was ready. Packages came from npm's cache.

\`\`\`text
${record}\`\`\`
`,
);
