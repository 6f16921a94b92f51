// Where the operator leaves its process: tests may throw there, or end it.

/** A call to somebody else, before it is sent or after it is answered. */
export interface CallPoint {
  readonly service: "sql" | "s3" | "keycloak" | "kubernetes";
  readonly name: string;
  readonly when: "before" | "after";
}

/** For tests. What it throws counts as the failure of that call. */
export type OnCall = (point: CallPoint) => Promise<void> | void;
