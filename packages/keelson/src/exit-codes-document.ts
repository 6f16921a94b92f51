// The page about exit codes, from the codes themselves: `docs/reference/exit-codes.md` holds what this gives.

import { exitCodes, exitFailure, exitInterrupted, type StartErrorCode } from "./start-error.ts";

const meanings: Readonly<Record<StartErrorCode, string>> = {
  USAGE:
    "what was typed cannot be meant, or a setting is wrong: a flag, a variable, the configuration file, or a file that they name",
  PORT_TAKEN: "a port is taken",
  DATA_DIR_LOCKED: "the data folder is in use by another process",
  DATA_DIR_NOT_WRITABLE: "the data folder cannot be written to",
  DATABASE_UNAVAILABLE:
    "the database cannot be started or reached, does not let us do what we must, or is not of this version",
  HOST_UNAVAILABLE: "the host cluster cannot be reached, or does not let us do what we must",
};

/** One table in Markdown. */
export function exitCodesDocument(): string {
  const codes = Object.keys(meanings) as StartErrorCode[];
  const rows: readonly (readonly [number, string, string])[] = [
    [0, "all", "done; a server: stopped in order"],
    [
      exitFailure,
      "all",
      "not done, and the reason was told; `diff`: there are differences; `doctor`: something is wrong; a server: any other failure, or the grace period was over",
    ],
    ...codes.map(
      (code) => [exitCodes[code], code === "USAGE" ? "all" : "servers", meanings[code]] as const,
    ),
    [exitInterrupted, "all", "interrupted by Ctrl-C; a server: by a second one"],
  ];
  const lines = rows.map(([code, whose, meaning]) => `| ${code} | ${whose} | ${meaning} |`);
  return ["| code | of | meaning |", "|---|---|---|", ...lines].join("\n");
}
