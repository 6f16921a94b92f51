// The way from flags to a server that can be asked.

import type { KindNames } from "@keelson/kube/kind-names";
import { findServer, type ServerFlags } from "./client/find-server.ts";
import { explained } from "./client/refusal.ts";
import { RestClient } from "./client/rest-client.ts";
import type { Output } from "./output/formats.ts";
import { paintFor } from "./output/paint.ts";
import type { CommandContext } from "./command-context.ts";
import { isForPeople, tellBeside } from "./outcomes.ts";
import type { Session } from "./session.ts";

/** A session, and what makes words for people of whatever its requests throw. */
export async function openSession(
  { output = "table", ...flags }: ServerFlags & { readonly output?: Output },
  context: Pick<CommandContext, "environment" | "workingFolder" | "clock" | "openTerminal">,
): Promise<{ readonly session: Session; readonly explain: (error: unknown) => unknown }> {
  const { clock, workingFolder } = context;
  const server = await findServer(flags, context);
  const terminal = context.openTerminal();
  let names: Promise<readonly KindNames[]> | undefined;
  const session: Session = {
    client: new RestClient(server, clock),
    terminal,
    paint: paintFor({ hasColours: terminal.hasColours && isForPeople(output) }),
    tell: tellBeside(terminal, output),
    isForPeople: isForPeople(output),
    clock,
    workingFolder,
    kindNames: () =>
      (names ??= import("@keelson/kube/kind-names").then((one) => one.loadKindNames())),
  };
  const hasToken = server.token !== undefined;
  return { session, explain: (error) => explained(error, { hasToken }) };
}
