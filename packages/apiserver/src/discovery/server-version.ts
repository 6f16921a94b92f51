// The bodies of `/version` and `/`.

/** The release of Kubernetes whose behaviour is ours. */
export const kubernetesRelease = { major: "1", minor: "36", patch: "3" } as const;

/** The body of `/version`: of fields that speak of Go, what is true of us. */
export function serverVersion(): object {
  const { major, minor, patch } = kubernetesRelease;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
    gitVersion: `v${major}.${minor}.${patch}+keelson`,
    gitCommit: "",
    gitTreeState: "clean",
    buildDate: "1970-01-01T00:00:00Z",
    goVersion: `node ${process.version}`,
    compiler: "v8",
    platform: `${process.platform}/${process.arch === "x64" ? "amd64" : process.arch}`,
  };
}
