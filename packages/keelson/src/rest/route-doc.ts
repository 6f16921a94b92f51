/** What a route tells of itself for the document of the API. Schemas are those of JSON Schema 2020-12. */
export interface RouteDoc {
  /** What it does, in a few words. */
  readonly summary: string;
  /** Parameters of the query, by name. */
  readonly query?: Readonly<Record<string, object>>;
  /** Headers that it heeds, by name. */
  readonly headers?: Readonly<Record<string, object>>;
  /** What is sent, where the route reads it without a schema of its own. */
  readonly body?: object;
  readonly success: DocumentedAnswer;
  /** Successes with another status. */
  readonly others?: readonly DocumentedAnswer[];
}

/** The status, and what is answered with it, if anything: JSON unless told. */
export interface DocumentedAnswer {
  readonly status: number;
  readonly body?: object;
  readonly mediaType?: string;
}
