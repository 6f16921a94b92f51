/** What one look found, and what to do about it. */
export interface Finding {
  /** What was looked at: `port of the REST API`. */
  readonly check: string;
  /** `warning`: it works without, or somebody may want to know. */
  readonly state: "ok" | "warning" | "failed";
  /** What is there, in a sentence. */
  readonly found: string;
  /** What mends it; null where nothing is to be mended. */
  readonly fix: string | null;
}

export function ok(check: string, found: string): Finding {
  return { check, state: "ok", found, fix: null };
}

export function warning(check: string, found: string, fix: string): Finding {
  return { check, state: "warning", found, fix };
}

export function failed(check: string, found: string, fix: string): Finding {
  return { check, state: "failed", found, fix };
}
