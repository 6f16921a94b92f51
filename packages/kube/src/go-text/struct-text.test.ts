import assert from "node:assert/strict";
import { test } from "node:test";

import { printShape, struct } from "./struct-text.ts";

const shape = struct(
  `Name name string
  Count count number
  On on boolean
  Maybe maybe *string
  List list []string
  Map map {}number
  Inner inner inner
  Any any any`,
  { inner: () => struct("B b string\nA a string") },
);

test("a struct prints all its fields, in its order", () => {
  assert.equal(
    printShape(shape, {}),
    '{"Name":"","Count":0,"On":false,"Maybe":null,"List":null,"Map":null,"Inner":{"B":"","A":""},"Any":null}',
  );
});

test("values are printed as Go's encoder does", () => {
  const value = {
    name: "<a>",
    count: 2,
    on: true,
    maybe: "",
    list: ["x"],
    map: { b: 1, a: 2 },
    inner: { a: "1" },
    any: { z: [1], y: null },
  };
  assert.equal(
    printShape(shape, value),
    String.raw`{"Name":"\u003ca\u003e","Count":2,"On":true,"Maybe":"","List":["x"],"Map":{"a":2,"b":1},"Inner":{"B":"","A":"1"},"Any":{"y":null,"z":[1]}}`,
  );
});

test("a name that is no shape is a mistake", () => {
  assert.throws(() => printShape(struct("A a nothing"), {}), /no shape is called nothing/);
});
