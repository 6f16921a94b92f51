// Every call that leaves the operator passes here, before it is sent and after it is answered: a leader that has lost
// its lease is stopped at it, and a test may end the operator at each.

export interface CallPoint {
  readonly service: "sql" | "s3" | "keycloak" | "kubernetes";
  /** Of the statement or operation; of requests to a cluster, method and path. */
  readonly name: string;
  readonly when: "before" | "after";
}

/** What it throws before a call keeps it from being sent, and after it counts as its failure. */
export type OnCall = (point: CallPoint) => Promise<void> | void;
