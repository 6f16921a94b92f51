// What every command that asks a server works with.

import type { Clock } from "@keelson/base";
import type { KindNames } from "@keelson/kube/kind-names";
import type { RestClient } from "./client/rest-client.ts";
import type { Paint } from "./output/paint.ts";
import type { Tell } from "./outcomes.ts";
import type { Terminal } from "./terminal.ts";

export interface Session {
  readonly client: RestClient;
  readonly terminal: Terminal;
  readonly paint: Paint;
  /** Says what has become of a thing. */
  readonly tell: Tell;
  /** Whether the answer is for people: tables and sentences. */
  readonly isForPeople: boolean;
  readonly clock: Clock;
  /** Relative paths are relative to it. */
  readonly workingFolder: string;
  /** What the kinds of Kubernetes are called. Read when somebody asks. */
  kindNames(): Promise<readonly KindNames[]>;
}
