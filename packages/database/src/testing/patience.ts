/** For pools of tests. A busy machine is no database that is away: the usual deadlines, of seconds, would take it for one. */
export const patience = { deadlineMs: 50_000, connectTimeoutMs: 30_000 } as const;
