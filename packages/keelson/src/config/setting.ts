// What a setting is. Its three names come from one word, so that whoever knows one knows all.

import type { Kind } from "./kinds.ts";

/** A plain variable that people already have, and what its text means in ours; unchanged unless told. */
export interface Alias {
  readonly variable: string;
  /** Undefined where the text says nothing about the setting. Throws a `BadValue` for a text it does not take. */
  readonly read?: (text: string) => string | undefined;
}

/** A default that other settings or the way of starting decide, and why. */
export interface Derived {
  readonly text: string;
  readonly because: string;
}

/** What a derived default may look at: the values that were given or have fixed defaults, by key. */
export interface Circumstances {
  readonly values: Readonly<Record<string, unknown>>;
  /** Whether a person is watching. */
  readonly isTerminal: boolean;
}

export interface Setting<T> {
  readonly kind: Kind<Exclude<T, undefined>>;
  /** A sentence for `--help`, without a full stop. */
  readonly help: string;
  readonly default?: string | ((circumstances: Circumstances) => Derived | undefined);
  readonly aliases?: readonly Alias[];
  /** Further flags, as the contracts call them, without the dashes. */
  readonly flagAliases?: readonly string[];
  /** The dotted place in the configuration file, where it is not the key. */
  readonly place?: string;
  /** `whole`: never shown; `password`: shown without the password of its URL. */
  readonly secret?: "whole" | "password";
}

type Details<T> = Omit<Setting<T>, "kind" | "help" | "default">;

/** A setting that always has a value. */
export function setting<T>(
  kind: Kind<T>,
  help: string,
  standard: string | ((circumstances: Circumstances) => Derived),
  details: Details<T> = {},
): Setting<T> {
  return { kind: kind as Kind<Exclude<T, undefined>>, help, default: standard, ...details };
}

/** A setting that may have no value. */
export function optional<T>(
  kind: Kind<T>,
  help: string,
  details: Details<T> & Pick<Setting<T>, "default"> = {},
): Setting<T | undefined> {
  return { kind: kind as Kind<Exclude<T, undefined>>, help, ...details };
}

/** `metricsPort` as a flag: `metrics-port`. A number belongs to the word before it. */
export function flagOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `metricsPort` as a variable: `KEELSON_METRICS_PORT`. */
export function variableOf(key: string): string {
  return `KEELSON_${flagOf(key).replaceAll("-", "_").toUpperCase()}`;
}

/** A plain variable with the same text. */
export function alias(variable: string): Alias {
  return { variable };
}

/** A plain variable that counts seconds. */
export function secondsAlias(variable: string): Alias {
  return { variable, read: (text) => (/^\d+$/.test(text) ? `${text}s` : text) };
}
