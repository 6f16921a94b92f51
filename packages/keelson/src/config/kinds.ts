// How the text of a setting becomes its value. Every kind says what it takes, so that a refusal can say it too.

import { isIP } from "node:net";
import { resolve } from "node:path";
import { BadQuantity, parseQuantity, printQuantity, scaledValue } from "@keelson/kube/quantity";
import { parseConnectionUrl, tlsModes } from "@keelson/platform/connection-url";
import { isLoopbackHost } from "../loopback.ts";

/** A text that is no value of its kind. The message says what would be one. */
export class BadValue extends Error {
  override readonly name = "BadValue";
  readonly code = "BAD_VALUE";
}

/** What a value may depend on besides its own text. */
export interface ReadContext {
  /** Relative paths are relative to this folder: the working directory, or that of the configuration file. */
  readonly folder: string;
}

export interface Kind<T> {
  /** What help and documents call it: `duration`, `port`. */
  readonly name: string;
  /** Throws a `BadValue` for a text that is none. The text is trimmed and not empty. */
  read(text: string, context: ReadContext): T;
  /** The text that `read` takes back. */
  write(value: T): string;
}

/** Any text. */
export const text: Kind<string> = { name: "text", read: (text) => text, write: (value) => value };

/** A file or folder, absolute once it is read. */
export const path: Kind<string> = {
  name: "path",
  read: (text, { folder }) => resolve(folder, text),
  write: (value) => value,
};

/** A file, or `-` for standard output. */
export const outputPath: Kind<string> = {
  name: "path or -",
  read: (text, context) => (text === "-" ? text : path.read(text, context)),
  write: (value) => value,
};

export const boolean: Kind<boolean> = {
  name: "true or false",
  read: (text) => {
    if (/^(true|1|yes|on)$/i.test(text)) return true;
    if (/^(false|0|no|off)$/i.test(text)) return false;
    throw new BadValue("must be true or false");
  },
  write: String,
};

/** Milliseconds, from texts such as `500ms`, `30s`, `5m`, `1h30m`, `90d`. A number alone has no unit and is refused. */
export const duration: Kind<number> = {
  name: "duration",
  read: (text) => {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    const isWhole = parts.map(([part]) => part).join("") === text;
    if (parts.length === 0 || !isWhole) {
      throw new BadValue("must be a duration with its unit, such as 500ms, 30s, 5m or 90d");
    }
    const ms = parts.reduce(
      (sum, [, count, unit]) => sum + Number(count) * msPer[unit as DurationUnit],
      0,
    );
    if (ms > durationMaxMs) throw new BadValue("is too long a duration: 1000000d are the most");
    return Math.round(ms);
  },
  write: (ms) => {
    const unit = (["d", "h", "m", "s"] as const).find((unit) => ms > 0 && ms % msPer[unit] === 0);
    return unit === undefined ? `${ms}ms` : `${ms / msPer[unit]}${unit}`;
  },
};

/** A duration that is not zero: an interval, a timeout. */
export const positiveDuration: Kind<number> = {
  ...duration,
  read: (text, context) => {
    const ms = duration.read(text, context);
    if (ms === 0) throw new BadValue("must be longer than 0");
    return ms;
  },
};

/** Bytes, from texts such as `512KiB`, `4MiB`, `1GiB` or a number of bytes. */
export const bytes: Kind<number> = {
  name: "bytes",
  read: (text) => {
    const [, count, unit = ""] = /^(\d+)\s*(B|KiB|MiB|GiB)?$/.exec(text) ?? [];
    const size = Number(count) * (bytesPer[unit as ByteUnit] ?? Number.NaN);
    if (!Number.isSafeInteger(size) || size < 1) {
      throw new BadValue("must be a size such as 512KiB, 4MiB or a number of bytes, at least 1");
    }
    return size;
  },
  write: (size) => {
    const unit = (["GiB", "MiB", "KiB"] as const).find((unit) => size % bytesPer[unit] === 0);
    return unit === undefined ? String(size) : `${size / bytesPer[unit]}${unit}`;
  },
};

/** A TCP port; 0 lets the system choose a free one. */
export const port: Kind<number> = {
  name: "port",
  read: (text) => {
    if (text.startsWith("tcp://")) {
      throw new BadValue(
        "is what Kubernetes sets for a Service of that name: set enableServiceLinks: false on the pod",
      );
    }
    const value = Number(text);
    if (!/^\d{1,5}$/.test(text) || value > 65_535) {
      throw new BadValue("must be a port from 0 to 65535, 0 for any free one");
    }
    return value;
  },
  write: String,
};

export function integer({
  min,
  max,
}: {
  readonly min: number;
  readonly max: number;
}): Kind<number> {
  return {
    name: "number",
    read: (text) => {
      const value = Number(text);
      if (!/^-?\d{1,15}$/.test(text) || value < min || value > max) {
        throw new BadValue(`must be a whole number from ${min} to ${max}`);
      }
      return value;
    },
    write: String,
  };
}

/** One of a closed set; `synonyms` are other words for the same. */
export function oneOf<const T extends string>(
  values: readonly T[],
  synonyms: Readonly<Record<string, T>> = {},
): Kind<T> {
  return {
    name: values.join("|"),
    read: (text) => {
      const word = text.toLowerCase();
      const meant = Object.hasOwn(synonyms, word) ? synonyms[word] : word;
      const found = values.find((value) => value === meant);
      if (found === undefined) throw new BadValue(`must be one of ${values.join(", ")}`);
      return found;
    },
    write: (value) => value,
  };
}

/** Values between commas, each once, in their order. */
export function listOf<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    name: `${item.name},…`,
    read: (text, context) => {
      const items = text
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
        .map((part) => readItem(item, part, context));
      if (items.length === 0) throw new BadValue("must not be empty");
      return [...new Set(items)];
    },
    write: (values) => values.map((value) => item.write(value)).join(","),
  };
}

/** Values in lines, or between commas as in a list of the file; what follows a `#` is a comment. Perhaps none. */
export function linesOf<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    name: `${item.name} in each line`,
    read: (text, context) => {
      const items = text
        .split("\n")
        .flatMap((line) => line.replace(/#.*/, "").split(","))
        .map((part) => part.trim())
        .filter((part) => part !== "")
        .map((part) => readItem(item, part, context));
      return [...new Set(items)];
    },
    write: (values) => values.map((value) => item.write(value)).join(","),
  };
}

/** An item that is no value is named: the list may be long. */
function readItem<T>(item: Kind<T>, text: string, context: ReadContext): T {
  try {
    return item.read(text, context);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new BadValue(`names ${JSON.stringify(text)}, which ${error.message}`);
  }
}

/** `key=value` between commas; a key stands once. */
export const pairs: Kind<Readonly<Record<string, string>>> = {
  name: "key=value,…",
  read: (text) => {
    const entries = text.split(",").map((part) => {
      const [, key, value] = /^\s*([^=\s]+)\s*=\s*(\S+)\s*$/.exec(part) ?? [];
      if (key === undefined || value === undefined) {
        throw new BadValue("must be pairs such as email=name, separated by commas");
      }
      return [key, value] as const;
    });
    const keys = new Set(entries.map(([key]) => key));
    if (keys.size !== entries.length) throw new BadValue("names one key twice");
    return Object.fromEntries(entries);
  },
  write: (value) =>
    Object.entries(value)
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
};

/** An address that a server binds to: an IP address or a host name, without a port. */
export const address: Kind<string> = {
  name: "address",
  read: (text) => {
    const bare = text.replace(/^\[(.*)\]$/, "$1");
    if (!/^[A-Za-z0-9._:%-]+$/.test(bare) || /^[^:]*:\d*$/.test(bare)) {
      throw new BadValue("must be an IP address or a host name without a port");
    }
    return bare;
  },
  write: (value) => value,
};

/** A network, or a single address. */
export const network: Kind<string> = {
  name: "network",
  read: (text) => {
    const [, address = "", bits = "0"] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const family = isIP(address);
    if (family === 0 || address.includes("%") || Number(bits) > (family === 4 ? 32 : 128)) {
      throw new BadValue("must be a network such as 10.0.0.0/8 or fd00::/8, or an address");
    }
    return text;
  },
  write: (value) => value,
};

/** A domain, with `*.` before it or not. */
export const domain: Kind<string> = {
  name: "domain",
  read: (text) => {
    const bare = text.toLowerCase().replace(/^\*\./, "").replace(/\.$/, "");
    const url = `https://${bare}`;
    if (!/^[^\s/\\?#@:*[\]]+$/.test(bare) || !URL.canParse(url)) {
      throw new BadValue("must be a domain such as example.com or *.example.com");
    }
    return bare;
  },
  write: (value) => value,
};

/** An origin in the form in which browsers send it, or `*` for all. */
export const origin: Kind<string> = {
  name: "origin",
  read: (text) => {
    if (text === "*" || text === "null") return text;
    const bare = text.replace(/\/$/, "");
    const url = /^[a-z][a-z\d+.-]*:\/\/[^\s/\\?#@*]+$/i.test(bare) ? URL.parse(bare) : null;
    if (url === null) {
      throw new BadValue("must be an origin such as https://app.example.com, without a path, or *");
    }
    // Those of extensions and apps are no origins to Node.
    return url.origin === "null" ? bare : url.origin;
  },
  write: (value) => value,
};

/** An amount as Kubernetes writes it; read in the one form in which a cluster keeps it, `5` for `5000m`. */
export const quantity: Kind<string> = {
  name: "amount",
  read: (text) => {
    try {
      const parsed = parseQuantity(text);
      if (scaledValue(parsed, -9) > 0n) return printQuantity(parsed);
    } catch (error) {
      if (!(error instanceof BadQuantity)) throw error;
    }
    throw new BadValue("must be an amount of Kubernetes above zero, as 500m or 2Gi");
  },
  write: (value) => value,
};

/** The URL of a PostgreSQL database. */
export const postgresUrl: Kind<string> = {
  name: "url",
  read: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol)) {
      throw new BadValue("must be a URL such as postgres://user:password@host:5432/keelson");
    }
    return text;
  },
  write: (value) => value,
};

/** The same where the driver reads it, to which any word that it does not know for a way of TLS is the strictest. */
export const servicesUrl: Kind<string> = {
  ...postgresUrl,
  read: (text, context) => {
    const url = postgresUrl.read(text, context);
    const mode = new URL(url).searchParams.get("sslmode");
    if (mode !== null && !tlsModes.some((known) => known === mode)) {
      throw new BadValue(`has an sslmode that is none of ${tlsModes.join(", ")}`);
    }
    return url;
  },
};

/** The same of the PostgreSQL for apps, as the operator reads it: what it cannot use no app should be the first to hear of. */
export const adminUrl: Kind<string> = {
  ...postgresUrl,
  read: (text, context) => {
    const url = postgresUrl.read(text, context);
    try {
      parseConnectionUrl(url);
    } catch (error) {
      throw new BadValue(`cannot be used: ${(error as Error).message}`); // Which shows nothing of it.
    }
    return url;
  },
};

/** Where a service of somebody else is: used as it is given. */
export const serviceUrl: Kind<string> = {
  name: "url",
  read: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isBare = url?.username === "" && url.password === "";
    if (!isBare || !/^https?:$/.test(url.protocol)) {
      throw new BadValue("must be a URL such as https://s3.example.com, without credentials in it");
    }
    return text;
  },
  write: (value) => value,
};

/** Where a service is that apps are told of, in a ConfigMap: a host, with a port or without, or a URL. */
export function endpoint(...schemes: readonly string[]): Kind<string> {
  return {
    name: "endpoint",
    read: (text) => {
      const url = text.includes("://") ? text : `${schemes[0]}://${text}`;
      const parsed = URL.canParse(url) ? new URL(url) : undefined;
      const isKnown = schemes.some((scheme) => parsed?.protocol === `${scheme}:`);
      if (parsed === undefined || parsed.hostname === "" || !isKnown) {
        const urls = schemes.map((scheme) => `${scheme}://host:port`).join(" or ");
        throw new BadValue(`must be a host, a host with a port, or a URL such as ${urls}`);
      }
      if (parsed.username !== "" || parsed.password !== "") {
        throw new BadValue(
          "must have no user and no password in it: apps get theirs as variables of their own",
        );
      }
      return text;
    },
    write: (value) => value,
  };
}

/** A schema of PostgreSQL that is ours to fill: neither the system's nor one of the services'. */
export const schemaName: Kind<string> = {
  name: "schema",
  read: (text) => {
    if (!/^(?!pg_)[a-z_][a-z0-9_]{0,62}$/.test(text)) {
      throw new BadValue(
        "must be a name of a-z, 0-9 and _ that does not begin with a digit or pg_",
      );
    }
    if (["fleet", "lifecycle", "keelson"].includes(text)) {
      throw new BadValue("is the schema of other tables of ours");
    }
    return text;
  },
  write: (value) => value,
};

/** A URL that answers are trusted from: https, or http on this machine. */
export const trustedUrl: Kind<string> = {
  name: "url",
  read: (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    const isTrusted =
      url?.protocol === "https:" || (url?.protocol === "http:" && isLoopbackHost(url.hostname));
    if (!isTrusted) throw new BadValue("must be an https URL, or an http URL of this machine");
    return text;
  },
  write: (value) => value,
};

/** Keys of 256 bits in base64, between commas. What is none is not repeated. */
export const keys256: Kind<readonly string[]> = {
  name: "256 bits in base64,…",
  read: (text) => {
    const keys = text.split(",").map((part) => part.trim());
    for (const key of keys) {
      const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(key);
      if (!isBase64 || Buffer.from(key, "base64").length !== 32) {
        throw new BadValue("must be 32 bytes in base64: openssl rand -base64 32");
      }
    }
    return [...new Set(keys)];
  },
  write: (keys) => keys.join(","),
};

/** No time that a database can tell is so long ago: `now() - interval` would fail, and the loop that asks with it. */
const durationMaxMs = 1_000_000 * 86_400_000;

type DurationUnit = "ms" | "s" | "m" | "h" | "d";
const msPer: Record<DurationUnit, number> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

type ByteUnit = "" | "B" | "KiB" | "MiB" | "GiB";
const bytesPer: Record<ByteUnit, number> = {
  "": 1,
  B: 1,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
};
