// The tag of an image, as container runtimes read its name.

const component = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])";
const host = `(?:${component}(?:\\.${component})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const pathPart = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const digest = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
const reference = new RegExp(
  `^((?:${host}/)?(${pathPart}(?:/${pathPart})*))(?::(\\w[\\w.-]{0,127}))?(?:@(${digest}))?$`,
);
const pathCharactersMax = 255;

/** Hex digits of the digests that can be checked, by algorithm. */
const digestCharacters: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

/** The tag that an image's name means: `latest` if it has neither tag nor digest, nothing if it is no name. */
export function imageTag(image: string): string | undefined {
  if (image === "" || image.length > imageCharactersMax || /^[a-f0-9]{64}$/.test(image))
    return undefined;
  const { domain, rest } = splitDomain(image);
  const [repository = ""] = rest.split(":", 1);
  if (repository.toLowerCase() !== repository) return undefined;
  const match = reference.exec(`${domain}/${rest}`);
  if (match === null) return undefined;
  const [, , path = "", tag, digest] = match;
  if (path.length > pathCharactersMax) return undefined;
  if (digest !== undefined && !isCheckable(digest)) return undefined;
  return tag ?? (digest === undefined ? "latest" : undefined);
}

/** Beyond what a path, a tag and a digest can have; a name this long is none. */
const imageCharactersMax = 1_024;

function splitDomain(image: string): { readonly domain: string; readonly rest: string } {
  const slash = image.indexOf("/");
  if (slash < 0) return { domain: "docker.io", rest: `library/${image}` };
  const first = image.slice(0, slash);
  const remainder = image.slice(slash + 1);
  if (first === "index.docker.io" || first === "docker.io") {
    return {
      domain: "docker.io",
      rest: remainder.includes("/") ? remainder : `library/${remainder}`,
    };
  }
  const isDomain = first === "localhost" || /[.:]/.test(first) || first.toLowerCase() !== first;
  return isDomain ? { domain: first, rest: remainder } : { domain: "docker.io", rest: image };
}

function isCheckable(digest: string): boolean {
  const colon = digest.indexOf(":");
  const algorithm = digest.slice(0, colon);
  const hex = digest.slice(colon + 1);
  const length = Object.hasOwn(digestCharacters, algorithm) ? digestCharacters[algorithm] : -1;
  return hex.length === length && /^[a-f0-9]+$/.test(hex);
}
