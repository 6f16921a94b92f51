import { flushCompileCache } from "node:module";

/**
 * Keeps what was compiled for this start for the next one. By itself Node does so when a process ends in order, and a server
 * that is killed before it ever did would compile everything again at each start. Writes only what is not kept yet.
 */
export function keepCompiled(): void {
  flushCompileCache();
}
