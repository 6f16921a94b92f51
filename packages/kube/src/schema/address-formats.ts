// Addresses of people and places: e-mail and URI, as the real server's library reads them.

/** An absolute URI, or an absolute path. */
export function isRequestUri(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  if (text === "" || /[\u0000-\u001f\u007f]/.test(text)) return false;
  if (text === "*") return true;
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(text)?.[0] ?? "";
  if (scheme === "" && text.startsWith(":")) return false;
  const rest = text.slice(scheme.length).split("?", 1)[0] ?? "";
  if (!rest.startsWith("/")) return scheme !== "";
  if (scheme !== "" && rest.startsWith("//")) {
    const end = rest.indexOf("/", 2);
    const authority = end < 0 ? rest.slice(2) : rest.slice(2, end);
    const path = end < 0 ? "" : rest.slice(end);
    return isAuthority(authority) && isEscapedRight(path);
  }
  return isEscapedRight(rest);
}

function isEscapedRight(text: string): boolean {
  return !/%(?![0-9a-fA-F]{2})/.test(text);
}

function isAuthority(text: string): boolean {
  const at = text.lastIndexOf("@");
  if (at >= 0) {
    const user = text.slice(0, at);
    if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user) || !isEscapedRight(user)) return false;
  }
  return isHost(text.slice(at + 1));
}

function isHost(text: string): boolean {
  if (text.startsWith("[")) {
    const end = text.lastIndexOf("]");
    if (end < 0 || !/^(?::[0-9]*)?$/.test(text.slice(end + 1))) return false;
    const [address = "", ...zone] = text.slice(1, end).split("%25");
    if (!/^[0-9a-fA-F:.]+$/.test(address) || !address.includes(":")) return false;
    return isEscapedRight(zone.join(""));
  }
  const colon = text.lastIndexOf(":");
  if (colon >= 0 && !/^:[0-9]*$/.test(text.slice(colon))) return false;
  // In a host an escape may only stand for what is not ASCII.
  if (/%(?![89a-fA-F][0-9a-fA-F])/.test(text)) return false;
  // oxlint-disable-next-line no-control-regex
  return /^(?:[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%]|[^\u0000-\u007f])*$/.test(text);
}

const atomCharacters = String.raw`A-Za-z0-9!#$%&'*+/=?^_\x60{|}~\u0080-\u{10ffff}`;
const atom = `[${atomCharacters}-]+`;
const quoted = String.raw`"(?:[^"\\\r\n]|\\.)*"`;
const local = `(?:${atom}(?:\\.${atom})*|${quoted})`;
const domain = `(?:${atom}(?:\\.${atom})*|\\[[^\\[\\]\\\\\\s]*\\])`;
const address = new RegExp(`^${local}@${domain}$`, "u");
const phrasePart = `[${atomCharacters} .\\t-]+|${quoted}`;

/** An address by itself, or in angle brackets after a name. */
export function isEmail(text: string): boolean {
  const trimmed = text.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, "");
  if (address.test(trimmed)) return true;
  const open = trimmed.lastIndexOf("<");
  if (open < 0 || !trimmed.endsWith(">")) return false;
  return isPhrase(trimmed.slice(0, open)) && address.test(trimmed.slice(open + 1, -1));
}

/** Words and texts in quotes. Part by part: one pattern for all of them would try every way to divide a word. */
function isPhrase(text: string): boolean {
  const part = new RegExp(phrasePart, "uy");
  while (part.lastIndex < text.length) if (!part.test(text)) return false;
  return true;
}
