// URLs as Go's net/url reads them, with its words for what it cannot read.

import { quote } from "../../../go-text/quote.ts";
import { parseAddress } from "../addresses.ts";

/** The parts of a URL that rules look at. */
interface GoUrl {
  readonly scheme: string;
  /** The user information, escaped where it must be; nothing where there is no `@`. */
  readonly user: string | undefined;
  /** As it is written. */
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

/** A URL, or why the text is none. */
type ParsedUrl =
  | { readonly url: GoUrl; readonly error?: undefined }
  | { readonly url?: undefined; readonly error: string };

export function parseGoUrl(text: string): ParsedUrl {
  const [before, fragment] = cut(text, "#");
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
  const [address, query] = cut(colon === undefined ? before : before.slice(colon + 1), "?");
  const isRooted = address.startsWith("/");
  if (!isRooted && scheme === "" && cut(address, "/")[0].includes(":")) {
    return problem("first path segment in URL cannot contain colon");
  }
  // What follows a scheme without a slash is no path.
  let path = isRooted || scheme === "" ? address : "";
  let [user, host]: [string | undefined, string] = [undefined, ""];
  if (path.startsWith("//") && (scheme !== "" || !path.startsWith("///"))) {
    const slash = path.indexOf("/", 2);
    const authority = slash < 0 ? path.slice(2) : path.slice(2, slash);
    path = slash < 0 ? "" : path.slice(slash);
    const sign = authority.lastIndexOf("@");
    host = authority.slice(sign + 1);
    if (sign >= 0) user = authority.slice(0, sign);
    const wrong = hostProblem(host, scheme) ?? (user === undefined ? undefined : userProblem(user));
    if (wrong !== undefined) return problem(wrong);
  }
  const inPath = escapeProblem(path);
  if (inPath !== undefined) return problem(inPath);
  const inFragment = escapeProblem(fragment);
  if (inFragment !== undefined) return problem(inFragment, text);
  return {
    url: {
      scheme,
      user: user === undefined ? undefined : userParts(user).map(escapeUserPart).join(":"),
      host,
      path: unescape(path),
      query,
      fragment: unescape(fragment),
    },
  };
}

/** What stands before and behind the first separator. */
function cut(text: string, separator: string): readonly [before: string, behind: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** Where the scheme's colon stands: 0 if it has no name before it, nothing if there is none. */
function schemeEnd(text: string): number | undefined {
  const found = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text);
  if (found !== null) return found[0].length - 1;
  return text.startsWith(":") ? 0 : undefined;
}

function hostProblem(host: string, scheme: string): string | undefined {
  const open = host.lastIndexOf("[");
  if (open > 0) return "invalid IP-literal";
  if (open === 0) return literalProblem(host);
  // Other schemes may list several hosts, each with its port.
  const isWeb = scheme === "http" || scheme === "https";
  const colon = isWeb ? host.indexOf(":") : host.lastIndexOf(":");
  const port = colon < 0 ? "" : host.slice(colon);
  return portProblem(port) ?? hostTextProblem(host, isEscapedInHost);
}

/** What is wrong with an IPv6 address in brackets; a zone may follow it, and a port the brackets. */
function literalProblem(host: string): string | undefined {
  const end = host.lastIndexOf("]");
  if (end < 0) return "missing ']' in host";
  const inside = host.slice(1, end);
  const percent = inside.indexOf("%25");
  const [text, zone] =
    percent < 0 ? [inside, ""] : [inside.slice(0, percent), inside.slice(percent)];
  const problem =
    portProblem(host.slice(end + 1)) ??
    hostTextProblem(text, isEscapedInHost) ??
    hostTextProblem(zone, isEscapedInZone);
  if (problem !== undefined) return problem;
  const address = parseAddress(text);
  if (address === undefined || address.hasLeadingZeros || (address.isV4 && zone !== "")) {
    return `invalid host: ParseAddr(${quote(unescape(inside))}): unable to parse IP`;
  }
  if (zone === "%25") {
    return `invalid host: ParseAddr(${quote(unescape(inside))}): zone must be a non-empty string`;
  }
  return address.isV4 ? "invalid IP-literal" : undefined;
}

function portProblem(port: string): string | undefined {
  return /^(?::[0-9]*)?$/.test(port) ? undefined : `invalid port ${quote(port)} after host`;
}

const hostCharacters = String.raw`A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"`;
const hostCharacter = new RegExp(`^[${hostCharacters}]$`);
const escapedOrOdd = new RegExp(`%.{0,2}|[^${hostCharacters}\\u0080-\\u{10ffff}]`, "gsu");

/** Tells of the first character that no host has, or the first escape that stands for none. */
function hostTextProblem(text: string, isEscaped: (code: number) => boolean): string | undefined {
  for (const [found] of text.matchAll(escapedOrOdd)) {
    if (!found.startsWith("%")) return `invalid character ${quote(found)} in host name`;
    if (!/^%[0-9a-fA-F]{2}$/.test(found) || !isEscaped(codeOf(found))) {
      return `invalid URL escape ${quote(found)}`;
    }
  }
  return undefined;
}

function isEscapedInHost(code: number): boolean {
  return code >= 0x80 || code === 0x25;
}

function isEscapedInZone(code: number): boolean {
  return code === 0x25 || code === 0x20 || hostCharacter.test(String.fromCharCode(code));
}

/** A name, and a password if there is one. */
function userParts(user: string): readonly string[] {
  return user.includes(":") ? cut(user, ":") : [user];
}

function userProblem(user: string): string | undefined {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return "net/url: invalid userinfo";
  return userParts(user)
    .map(escapeProblem)
    .find((problem) => problem !== undefined);
}

/** Escapes what Go would, and nothing else. */
function escapeUserPart(part: string): string {
  return part.replaceAll(/%..|[!'()*:@]/g, (found) => {
    const code = found.length === 1 ? found.charCodeAt(0) : codeOf(found);
    const character = String.fromCharCode(code);
    if (/^[A-Za-z0-9\-_.~$&+,;=]$/.test(character)) return character;
    return `%${code.toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** The byte of `%20`. */
function codeOf(escape: string): number {
  return Number.parseInt(escape.slice(1), 16);
}

function escapeProblem(text: string): string | undefined {
  const wrong = /%(?![0-9a-fA-F]{2}).{0,2}/s.exec(text)?.[0];
  return wrong === undefined ? undefined : `invalid URL escape ${quote(wrong)}`;
}

function unescape(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
