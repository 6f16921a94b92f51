import type { RunFile } from "@keelson/keelson";

export interface Answer {
  readonly code: number;
  readonly text: string;
  /** Undefined where there is none. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export type Ask = (
  method: string,
  path: string,
  body?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

/** Asks the REST API of a server that runs, below `/api/v1`. */
export function askRest({ rest }: Pick<RunFile, "rest">, signal: AbortSignal): Ask {
  return async (method, path, body, headers = {}) => {
    const answer = await fetch(`${rest}/api/v1${path}`, {
      method,
      signal,
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { code: answer.status, text, body: text === "" ? undefined : JSON.parse(text) };
  };
}
