// Arrays of the types that our statements use. Left to itself the driver asks the server for all there are, once a
// connection: a round trip, and where the connection is lost in the middle of it, a rejection that nobody can catch.

import { readJson, writeJson, type Json } from "@keelson/base";
import { parse } from "postgres-array";

interface ElementType {
  /** The type of the array, in PostgreSQL's catalogue. */
  readonly arrayOid: number;
  readonly read?: (text: string) => unknown;
  readonly write?: (value: never) => string;
}

const isTrue = (text: string): boolean => text === "t";
const asDate = (text: string): Date => new Date(text);
const timestamp = { read: asDate, write: (at: Date | string) => new Date(at).toISOString() };
const json = { read: readJson, write: (value: Json) => writeJson(value) };

const elementTypes: Readonly<Record<string, ElementType>> = {
  boolean: { arrayOid: 1000, read: isTrue },
  name: { arrayOid: 1003 },
  smallint: { arrayOid: 1005, read: Number },
  integer: { arrayOid: 1007, read: Number },
  text: { arrayOid: 1009 },
  varchar: { arrayOid: 1015 },
  bigint: { arrayOid: 1016 },
  float8: { arrayOid: 1022, read: Number },
  oid: { arrayOid: 1028, read: Number },
  timestamptz: { arrayOid: 1185, ...timestamp },
  uuid: { arrayOid: 2951 },
  jsonb: { arrayOid: 3807, ...json },
};

/** What the driver is told of them. */
export const arrayTypes = Object.fromEntries(
  Object.entries(elementTypes).map(([name, { arrayOid, read = String, write = String }]) => [
    `${name}Array`,
    {
      to: arrayOid,
      from: [arrayOid],
      serialize: (values: readonly unknown[]) =>
        literal(values, write as (value: unknown) => string),
      parse: (text: string) => parse(text, read),
    },
  ]),
);

function literal(values: readonly unknown[], write: (value: unknown) => string): string {
  const elements = values.map((value) =>
    value === null ? "NULL" : `"${write(value).replaceAll(/["\\]/g, "\\$&")}"`,
  );
  return `{${elements.join(",")}}`;
}
