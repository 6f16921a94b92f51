// Bodies that make no sense, in formats of every sort, and of every size: KB 33, 49, 57.

import type { JsonObject } from "@keelson/base";

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap, definition, deployment, pod } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

const yamlSpecs = [
  "a: yes\nb: No\nc: on\nd: OFF\ne: y\nf: N\ng: 'yes'\nh: \"no\"\ni: yEs",
  "a: ~\nb: null\nc:\nd: Null\ne: nULL\nf: ''",
  "a: 010\nb: 0x1F\nc: 0o17\nd: 0b11\ne: -0x10\nf: +12\ng: 1_000\nh: 08\ni: 0_7\nj: -017",
  "a: 9007199254740993\nb: 18446744073709551615\nc: 18446744073709551616\nd: -9223372036854775808",
  "a: 1e3\nb: 1.\nc: .5\nd: 1.5e-3\ne: 1e\nf: 0x\ng: 1-2\nh: ._5\ni: 12:30\nj: 1e400\nk: 1.0",
  "a: 2026-01-01\nb: 2026-01-01T00:00:00Z\nc: 2026-1-1 1:2:3",
  "a: !!str 1\nb: !!int \"1\"\nc: !!float 1\nd: !!binary aGk=\ne: ! 1\nf: !mine x\ng: !!null ''",
  "a: !!int x",
  "1: a\ntrue: b\n1.5: c\n0x10: d",
  "~: a",
  "a: &x {k: 1, l: 2}\nb: {<<: *x, m: 3}\nc: {<<: [*x, {k: 9, n: 1}]}\nd: [*x, *x]",
  "a: {<<: 1}",
  "a: *nothing",
  "a: .inf",
  'a: |\n  x\n  y\nb: >-\n  x\n  y\nc: |+\n  z\n\nd: "a\\tb\\u00e9\\x41"',
  "a: plain # comment\nb: 'it''s'\nc: a:b\nd: [a, 'b', {c: d}, ]\ne: {}",
];

const scripts: Record<string, Script> = {
  ...casesFor(
    {
      nothing: "",
      space: "  ",
      "no JSON": "{",
      text: "hello",
      "a list": "[]",
      null: "null",
      "a number": "5",
      true: "true",
      "an empty object": "{}",
      "an unfinished text": '{"apiVersion":"v',
      trailing: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"t"}} x',
      "two documents": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"t"}}{"a":1}',
      "a comma too much": '{"apiVersion":"v1","kind":"ConfigMap",}',
      "single quotes": "{'a':1}",
      "a comment": "{/* */}",
      "bad UTF-8":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"u"},"data":{"a":"\\ud800"}}',
      "a control character":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"\n"}}',
      "metadata is a list": '{"apiVersion":"v1","kind":"ConfigMap","metadata":[]}',
      "metadata is a text": '{"apiVersion":"v1","kind":"ConfigMap","metadata":"x"}',
      "name is a number": '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":5}}',
      "labels are a list":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":["x"]}}',
      "a label is a number":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":1}}}',
      "a time that is none":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","creationTimestamp":"yesterday"}}',
      "generation is a text":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","generation":"1"}}',
      "kind is a number": '{"apiVersion":"v1","kind":5}',
      proto:
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p"},"__proto__":{"x":1},"data":{"__proto__":"y","constructor":"z"}}',
      "case of members":
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"k"},"Data":{"a":"1"}}',
    },
    "body: %",
    async (lab, body) => {
      await lab.post(lab.core("configmaps"), body);
      await lab.put(lab.core("configmaps", "x"), body);
    },
  ),
  ...casesFor(
    {
      none: "",
      "text/plain": "text/plain",
      "application/yaml": "application/yaml",
      "application/xml": "application/xml",
      "a form": "application/x-www-form-urlencoded",
      "json with charset": "application/json; charset=utf-8",
      "in capitals": "APPLICATION/JSON",
      malformed: "json",
      "protobuf that is none": "application/vnd.kubernetes.protobuf",
      cbor: "application/cbor",
      "a patch type": "application/merge-patch+json",
      two: "application/json, application/yaml",
    },
    "content type of a POST: %",
    async (lab, type) => {
      await lab.post(lab.core("configmaps"), configMap("a"), { headers: { "content-type": type } });
    },
  ),
  "YAML bodies": async (lab) => {
    const yaml = { headers: { "content-type": "application/yaml" } };
    await lab.post(
      lab.core("configmaps"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: '1'\n  b: |\n    two\n    lines\n",
      yaml,
    );
    await lab.post(
      lab.core("configmaps"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\ndata:\n  a: 1\n",
      yaml,
    );
    await lab.post(
      lab.core("configmaps"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: c\n  name: d\nunknown: 1\n",
      yaml,
    );
    await lab.post(
      `${lab.core("configmaps")}?fieldValidation=Strict`,
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: e\n  name: f\nunknown: 1\n",
      yaml,
    );
    await lab.post(
      `${lab.core("configmaps")}?fieldValidation=Strict`,
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: g}\ndata: {"a\\x7f\\L": x, "a\\x7f\\L": y}\n',
      yaml,
    );
    await lab.post(lab.core("configmaps"), "a: [", yaml);
    await lab.post(lab.core("configmaps"), "&a [*a]", yaml);
    await lab.put(
      lab.core("configmaps", "a"),
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  a: yes\n",
      yaml,
    );
    await lab.delete(lab.core("configmaps", "a"), "propagationPolicy: Background\n", yaml);
  },
  ...casesFor(
    {
      letters: ["é", "日本", "😀"],
      "what is not printed": ["a\u2028", "a\u00ad", "a\ufeff"],
      quotes: ['a"b\\c', "<&>"],
      controls: ["before", "a\tb", "a\u0001", "a\u007f", "a\u0085", "a\nb", "behind"],
      "half a pair": ["a\ud800"],
      "controls of much": ["x".repeat(4000), `${"y".repeat(300)}\t`, "z".repeat(4000), "\t"],
    },
    "warnings of unknown fields: %",
    async (lab, names) => {
      const unknown = Object.fromEntries(names.map((name) => [name, 1]));
      await lab.post(lab.core("configmaps"), { ...configMap("a"), ...unknown });
      await lab.post(`${lab.core("configmaps")}?fieldValidation=Strict`, {
        ...configMap("b"),
        ...unknown,
      });
    },
  ),
  "what scalars of YAML mean": async (lab) => {
    const group = `y-${lab.id}.example.com`;
    await createKind(lab, definition({ group, kind: "Loose" }));
    const headers = { "content-type": "application/yaml" };
    for (const [index, spec] of yamlSpecs.entries()) {
      const head = `apiVersion: ${group}/v1\nkind: Loose\nmetadata: {name: y-${index}}\nspec:\n`;
      const body = head + spec.replaceAll(/^/gm, "  ");
      await lab.post(lab.group(`${group}/v1`, "looses"), body, { headers });
    }
  },
  "protobuf bodies": async (lab) => {
    const protobuf = { headers: { "content-type": "application/vnd.kubernetes.protobuf" } };
    const encode = (object: JsonObject): Buffer => Buffer.from(lab.codec.encode(object));
    await lab.post(lab.core("configmaps"), encode(configMap("a")), protobuf);
    await lab.put(lab.core("configmaps", "a"), encode(configMap("a", { a: "2" })), protobuf);
    await lab.post(lab.group("apps/v1", "deployments"), encode(deployment("d")), protobuf);
    await lab.post(lab.core("pods"), encode(pod("p")), {
      headers: {
        ...protobuf.headers,
        accept: "application/vnd.kubernetes.protobuf,application/json",
      },
    });
    await lab.post(lab.core("configmaps"), Buffer.from("k8s\0garbage"), protobuf);
    await lab.post(lab.core("configmaps"), encode(configMap("b")).subarray(0, 30), protobuf);
    await lab.post(lab.core("configmaps"), Buffer.alloc(0), protobuf);
    await lab.post(lab.core("secrets"), encode(configMap("c")), protobuf);
    await lab.post(
      lab.group("coordination.k8s.io/v1", "leases"),
      encode({
        apiVersion: "coordination.k8s.io/v1",
        kind: "Lease",
        metadata: { name: "l" },
        spec: {
          holderIdentity: "me",
          leaseDurationSeconds: 15,
          renewTime: "2026-01-01T00:00:00.123456Z",
        },
      }),
      protobuf,
    );
  },
  "bodies beyond three mebibytes": async (lab) => {
    const large = configMap("a", { a: "x".repeat(3 * 1024 * 1024) });
    await lab.post(lab.core("configmaps"), large);
    await lab.put(lab.core("configmaps", "a"), large);
    await lab.patch("merge", lab.core("configmaps", "a"), large);
    await lab.patch("apply", `${lab.core("configmaps", "a")}?fieldManager=m`, large);
    await lab.delete(lab.core("configmaps", "a"), {
      apiVersion: "v1",
      kind: "DeleteOptions",
      x: "x".repeat(3 * 1024 * 1024),
    });
  },
  "an object that is large but allowed to be sent": async (lab) => {
    await lab.post(lab.core("configmaps"), configMap("a", { a: "x".repeat(2 * 1024 * 1024) }));
  },
  headers: async (lab) => {
    await lab.get(lab.core("configmaps"), { headers: { "audit-id": "mine" } });
    await lab.get(lab.core("configmaps"), { headers: { origin: "https://example.com" } });
    await lab.get(lab.core("configmaps"), {
      headers: { "x-remote-user": "admin", "x-remote-group": "system:masters" },
    });
    await lab.get(lab.core("configmaps"), { headers: { authorization: "Basic YTpi" } });
    await lab.get(lab.core("configmaps"), { headers: { authorization: "Bearer nonsense" } });
    await lab.get(lab.core("configmaps"), { headers: { authorization: "Bearer" } });
    await lab.get(lab.core("configmaps"), { headers: { "accept-encoding": "gzip" } });
  },
  depth: async (lab) => {
    const deep = (levels: number): string =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"x":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    await lab.statusOf({ method: "POST", path: lab.core("configmaps"), body: deep(400) });
    await lab.statusOf({ method: "POST", path: lab.core("configmaps"), body: deep(100_000) });
  },
};

export const bodyCases = casesOf("bodies", scripts);
