// What a browser does at a login: it follows, keeps cookies, and fills in forms.

/** Where the browser has come to: a page, or an address that is not the server's. */
export interface Page {
  readonly url: URL;
  /** Undefined where it was sent away from the server. */
  readonly status: number | undefined;
  readonly text: string;
}

export class Browser {
  readonly #origin: string;
  /** By the path below which they are sent, and their name: two realms have cookies of one name. */
  readonly #cookies = new Map<string, { readonly path: string; readonly text: string }>();

  constructor(origin: string) {
    this.#origin = origin;
  }

  async open(url: string | URL): Promise<Page> {
    return await this.#follow(new URL(url), { method: "GET" });
  }

  /** Sends the form of a page. */
  async submit({ url, text }: Page, fields: Readonly<Record<string, string>>): Promise<Page> {
    const [, action] = /<form[^>]*\saction="([^"]+)"/.exec(text) ?? [];
    if (action === undefined) throw new Error(`there is no form on ${url.href}:\n${text}`);
    const target = new URL(action.replaceAll("&amp;", "&"), url);
    return await this.#follow(target, { method: "POST", body: new URLSearchParams(fields) });
  }

  async #follow(url: URL, request: RequestInit): Promise<Page> {
    if (url.origin !== this.#origin) return { url, status: undefined, text: "" };
    const cookie = [...this.#cookies.values()]
      .filter(({ path }) => url.pathname.startsWith(path))
      .map(({ text }) => text)
      .join("; ");
    const answer = await fetch(url, { ...request, redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [text = "", ...attributes] = line.split(";").map((part) => part.trim());
      const path = attributes.find((one) => /^path=/i.test(one))?.slice("path=".length) ?? "/";
      const key = `${path} ${text.split("=")[0]}`;
      if (attributes.some((one) => /^max-age=0$/i.test(one))) this.#cookies.delete(key);
      else this.#cookies.set(key, { path, text });
    }
    const location = answer.headers.get("location");
    const text = await answer.text();
    if (location === null) return { url, status: answer.status, text };
    return await this.#follow(new URL(location, url), { method: "GET" });
  }
}
