// What the oracle is made of: each program, the Go module it comes from and its version.

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export type ProgramName =
  | "etcd"
  | "kube-apiserver"
  | "kubectl"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kwok"
  | "helm"
  | "versitygw"
  | "informers"
  | "manager"
  | "ark-manager"
  | "idle-manager"
  | "loadgen";

/** A `go.mod` and `go.sum` of ours, below `modules/`, that pin everything a program is built from. */
export interface GoModule {
  readonly name: string;
  readonly version: string;
  /** Go packages to build, by the name of the program. */
  readonly programs: Readonly<Partial<Record<ProgramName, string>>>;
  /** Values for the linker's `-X`, so that `--version` says the truth. */
  readonly stamps: Readonly<Record<string, string>>;
}

const [major, minor, patch] = ["1", "36", "3"];
export const kubernetesVersion = `${major}.${minor}.${patch}`;

/** In the order in which they are built: what tests need first comes first. */
export const modules: readonly GoModule[] = [
  {
    name: "etcd",
    version: "3.6.16",
    programs: { etcd: "go.etcd.io/etcd/server/v3" },
    stamps: { "go.etcd.io/etcd/api/v3/version.GitSHA": "v3.6.16" },
  },
  {
    name: "kubernetes",
    version: kubernetesVersion,
    programs: {
      "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
      kubectl: "k8s.io/kubernetes/cmd/kubectl",
      "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
      "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    },
    stamps: Object.fromEntries(
      ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((where) => [
        [`${where}.gitVersion`, `v${kubernetesVersion}`],
        [`${where}.gitMajor`, major],
        [`${where}.gitMinor`, minor],
        [`${where}.gitTreeState`, "clean"],
      ]),
    ),
  },
  {
    name: "kwok",
    version: "0.8.0",
    programs: { kwok: "sigs.k8s.io/kwok/cmd/kwok" },
    stamps: { "sigs.k8s.io/kwok/pkg/consts.Version": "0.8.0" },
  },
  {
    name: "helm",
    version: "4.3.1",
    programs: { helm: "helm.sh/helm/v4/cmd/helm" },
    stamps: { "helm.sh/helm/v4/internal/version.version": "v4.3.1" },
  },
  {
    // A real S3 server, for the buckets of apps.
    name: "versitygw",
    version: "1.8.0",
    programs: { versitygw: "github.com/versity/versitygw/cmd/versitygw" },
    stamps: { "main.Version": "v1.8.0" },
  },
  {
    // Ours: unmodified client libraries, in programs as small as they can be.
    name: "clients",
    version: "0.36.3",
    programs: {
      informers: "./informers",
      manager: "./manager",
      "ark-manager": "./ark-manager",
      loadgen: "./loadgen",
    },
    stamps: {},
  },
];

/** What no cluster needs and benchmarks are put beside: built when one of them asks. Its source is ours. */
export const managerModule: GoModule = {
  name: "controller-runtime",
  version: "0.25.2",
  programs: { "idle-manager": "./idle-manager" },
  stamps: {},
};

/** Where built programs are kept: outside the checkout, shared by all checkouts of this user. */
export function cacheFolder(): string {
  return join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "keelson", "oracle");
}

/** Where the pins of `module` are. */
export function moduleFolder(module: GoModule): string {
  return join(import.meta.dirname, "modules", module.name);
}

/** Where the programs of `module` are kept: another version, `go.sum` or source of ours is another folder. */
export function programFolder(module: GoModule): string {
  const hash = createHash("sha256");
  const folder = moduleFolder(module);
  hash.update(readFileSync(join(folder, "go.sum")));
  for (const file of sourcesOf(module)) hash.update(file).update(readFileSync(join(folder, file)));
  hash.update(JSON.stringify(module));
  const platform = `${process.platform}-${process.arch}`;
  const digest = hash.digest("hex").slice(0, 12);
  return join(cacheFolder(), `${module.name}-${module.version}-${platform}-${digest}`);
}

/** Our own sources, where programs are built from such: those that they share, too. */
function sourcesOf(module: GoModule): readonly string[] {
  const isOurs = Object.values(module.programs).some((target) => target.startsWith("./"));
  return isOurs ? globSync("*/*.go", { cwd: moduleFolder(module) }).sort() : [];
}

/** Where the program is, or will be once it is built. */
export function programPath(name: ProgramName): string {
  const module = [...modules, managerModule].find(({ programs }) => name in programs);
  if (module === undefined) throw new Error(`no module builds ${name}`);
  return join(programFolder(module), name);
}
