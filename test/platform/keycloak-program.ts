// Keycloak's own distribution from Maven Central: unpacked and built once, for all checkouts of this user.

import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { BuildLock } from "../tools/build-lock.ts";
import { cacheFolder } from "../oracle/programs.ts";

const version = "26.4.0";
const archiveUrl = `https://repo.maven.apache.org/maven2/org/keycloak/keycloak-quarkus-dist/${version}/keycloak-quarkus-dist-${version}.zip`;
const archiveSha256 = "1b6a11a2726ac8a8dc9c91d5fafe989a75ce4f1622d7f7b45c21d5bc16629c0a";

/** What is decided when it is built, so that a start need not: nothing is kept. */
const buildOptions = ["--db=dev-mem"];

/** Where the distribution is, or why there is none. */
export function findKeycloak(): { readonly home: string } | { readonly missing: string } {
  const home = homeFolder();
  if (!existsSync(home)) {
    return { missing: "there is no Keycloak here (node test/platform/prepare.ts fetches it)" };
  }
  return hasJava() ? { home } : { missing: "Keycloak needs Java, and there is none here" };
}

/** Fetches and builds it, if that was not done yet. It appears under its name only when it is complete. */
export async function fetchKeycloak(signal: AbortSignal): Promise<void> {
  if (existsSync(homeFolder())) return;
  if (!hasJava()) throw new Error("Keycloak needs Java, and there is none here");
  mkdirSync(folder(), { recursive: true });
  using _lock = await BuildLock.acquire(join(folder(), "build.lock"), signal);
  if (existsSync(homeFolder())) return;
  const draft = join(folder(), "partial");
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  const archive = join(draft, "keycloak.zip");
  console.error(`fetching Keycloak ${version}`);
  await download(archive, signal);
  unpack(archive, draft);
  const [unpacked = ""] = readdirSync(draft).filter((name) => name.startsWith("keycloak-"));
  const home = join(draft, unpacked);
  const options = { stdio: "pipe", timeout: 600_000 } as const;
  execFileSync(
    "nice",
    ["-n", "15", "java", ...javaArguments(home), "build", ...buildOptions],
    options,
  );
  renameSync(home, homeFolder());
  rmSync(draft, { recursive: true });
}

/** What Java needs before the command of Keycloak, as its own script `kc.sh` says. */
export function javaArguments(home: string): string[] {
  const open = ["java.util", "java.util.concurrent", "java.security"];
  return [
    "-Xms64m",
    "-Xmx512m",
    // A short life on few cores: the thorough compiler is worth its time for the arithmetic of keys, and hardly else.
    "-XX:Tier4InvocationThreshold=100000",
    "-XX:Tier4MinInvocationThreshold=50000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=1000000",
    "-XX:+UseSerialGC",
    "-XX:MaxMetaspaceSize=256m",
    "-Dfile.encoding=UTF-8",
    "-Duser.language=en",
    "-Duser.country=US",
    ...open.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
    "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
    "-Djava.util.concurrent.ForkJoinPool.common.threadFactory=io.quarkus.bootstrap.forkjoin.QuarkusForkJoinWorkerThreadFactory",
    "-Dpicocli.disable.closures=true",
    `-Dkc.home.dir=${home}`,
    `-Djboss.server.config.dir=${join(home, "conf")}`,
    "-cp",
    join(home, "lib", "quarkus-run.jar"),
    "io.quarkus.bootstrap.runner.QuarkusEntryPoint",
  ];
}

async function download(path: string, signal: AbortSignal): Promise<void> {
  const { ok, status, body } = await fetch(archiveUrl, { signal });
  if (!ok || body === null) throw new Error(`${archiveUrl} answers ${status}`);
  await pipeline(Readable.fromWeb(body), createWriteStream(path));
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  const digest = hash.digest("hex");
  if (digest !== archiveSha256) throw new Error(`${archiveUrl} has another content: ${digest}`);
}

/** With whichever of these is there; Java has one of its own in its kit for developers. */
function unpack(archive: string, target: string): void {
  const options = { cwd: target, stdio: "pipe" } as const;
  const ways: readonly (readonly [string, ...string[]])[] = [
    ["unzip", "-q", archive],
    ["jar", "xf", archive],
    ["python3", "-m", "zipfile", "-e", archive, target],
  ];
  const isThere = (program: string): boolean =>
    spawnSync("which", [program], { stdio: "ignore" }).status === 0;
  const way = ways.find(([program]) => isThere(program));
  if (way === undefined) throw new Error("nothing here can unpack a zip: install unzip");
  const [program, ...rest] = way;
  execFileSync(program, rest, options);
}

function hasJava(): boolean {
  return spawnSync("java", ["-version"], { stdio: "ignore" }).status === 0;
}

function homeFolder(): string {
  const built = createHash("sha256").update(buildOptions.join(" ")).digest("hex").slice(0, 8);
  return join(folder(), `${version}-${built}`);
}

function folder(): string {
  return join(dirname(cacheFolder()), "keycloak");
}
