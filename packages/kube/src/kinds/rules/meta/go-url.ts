// URLs as Go's net/url reads them, with its words for what it cannot read.

import { quote } from "../../../go-text/quote.ts";

/** The parts of a URL that rules look at. */
export interface GoUrl {
  readonly scheme: string;
  /** The user information as it is written; nothing where there is no `@`. */
  readonly user: string | undefined;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

/** A URL, or why the text is none. */
export type ParsedUrl =
  | { readonly url: GoUrl; readonly error?: undefined }
  | { readonly url?: undefined; readonly error: string };

export function parseGoUrl(text: string): ParsedUrl {
  const hash = text.indexOf("#");
  const [before, fragment] = hash < 0 ? [text, ""] : [text.slice(0, hash), text.slice(hash + 1)];
  const problem = (reason: string, shown = before): ParsedUrl => ({
    error: `parse ${quote(shown)}: ${reason}`,
  });
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(before)) {
    return problem("net/url: invalid control character in URL");
  }
  const colon = schemeEnd(before);
  if (colon === 0) return problem("missing protocol scheme");
  const scheme = colon === undefined ? "" : before.slice(0, colon).toLowerCase();
  let rest = colon === undefined ? before : before.slice(colon + 1);
  const mark = rest.indexOf("?");
  const query = mark < 0 ? "" : rest.slice(mark + 1);
  if (mark >= 0) rest = rest.slice(0, mark);
  if (!rest.startsWith("/")) {
    const whole = { scheme, user: undefined, host: "", path: "", query, fragment };
    if (scheme !== "") return { url: whole };
    const segment = rest.split("/", 1)[0] ?? "";
    if (segment.includes(":")) return problem("first path segment in URL cannot contain colon");
  }
  let user: string | undefined;
  let host = "";
  if (rest.startsWith("//") && (scheme !== "" || !rest.startsWith("///"))) {
    const slash = rest.indexOf("/", 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? "" : rest.slice(slash);
    const sign = authority.lastIndexOf("@");
    const read = readHost(authority.slice(sign + 1));
    if (read.error !== undefined) return problem(read.error);
    host = read.host;
    if (sign >= 0) {
      user = authority.slice(0, sign);
      if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) {
        return problem("net/url: invalid userinfo");
      }
    }
  }
  const escape = badEscape(rest);
  if (escape !== undefined) return problem(`invalid URL escape ${quote(escape)}`);
  const inFragment = badEscape(fragment);
  if (inFragment !== undefined) return problem(`invalid URL escape ${quote(inFragment)}`, text);
  return { url: { scheme, user, host, path: unescape(rest), query, fragment } };
}

/** Where the scheme's colon stands: 0 if it has no name before it, nothing if there is none. */
function schemeEnd(text: string): number | undefined {
  const found = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text);
  if (found !== null) return found[0].length - 1;
  return text.startsWith(":") ? 0 : undefined;
}

function readHost(
  text: string,
): { readonly host: string; readonly error?: undefined } | { readonly error: string } {
  if (text.startsWith("[")) {
    const end = text.lastIndexOf("]");
    if (end < 0) return { error: "missing ']' in host" };
    const port = text.slice(end + 1);
    if (!/^(?::[0-9]*)?$/.test(port)) return { error: `invalid port ${quote(port)} after host` };
    const inside = text.slice(1, end).split("%25", 1)[0] ?? "";
    if (!/^[0-9a-fA-F:.]+$/.test(inside) || !inside.includes(":")) return { error: "invalid host" };
    return { host: text };
  }
  const colon = text.lastIndexOf(":");
  if (colon >= 0 && !/^:[0-9]*$/.test(text.slice(colon))) {
    return { error: `invalid port ${quote(text.slice(colon))} after host` };
  }
  const escape = /%(?![89a-fA-F][0-9a-fA-F]).{0,2}/.exec(text)?.[0];
  if (escape !== undefined) return { error: `invalid URL escape ${quote(escape)}` };
  // oxlint-disable-next-line no-control-regex
  const odd = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\u{10ffff}]/u.exec(text)?.[0];
  if (odd !== undefined) return { error: `invalid character ${quote(odd)} in host name` };
  return { host: text };
}

function badEscape(text: string): string | undefined {
  return /%(?![0-9a-fA-F]{2}).{0,2}/.exec(text)?.[0];
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
