/** What a route tells of itself for the document of the API. Schemas are those of JSON Schema 2020-12. */
export interface RouteDoc {
  /** What it does, in a few words. */
  readonly summary: string;
  /** Parameters of the query, by name. */
  readonly query?: Readonly<Record<string, object>>;
  /** Its success: the status, and what is answered with it, if anything. */
  readonly success: { readonly status: number; readonly body?: object };
}
