// One server at a time on a file (S16), and none that never serves again (S17).

import type { Context } from "./context.ts";

export function checkServers({ history, verdicts }: Context): void {
  const serving = new Map<string, string>();
  for (const record of history.records) {
    if (record.type === "serving") {
      const other = serving.get(record.file);
      if (other !== undefined) {
        verdicts.add(
          "S16",
          record.at,
          `${record.server} serves ${record.file} while ${other} still does`,
        );
      }
      serving.set(record.file, record.server);
    }
    if (record.type === "stuck") {
      const { replica, before } = record;
      verdicts.add("S17", record.at, `${replica} never came to ${before}`);
    }
    if (record.type === "gone") {
      for (const [file, server] of serving) if (server === record.server) serving.delete(file);
    }
  }
}
