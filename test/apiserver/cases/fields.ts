// Fields that nobody knows or that stand there twice, and namespaces that are not there: KB 51, 75.

import { casesFor, casesOf, type Script } from "../case.ts";
import { configMap, definition, deployment } from "../objects.ts";
import { createKind } from "./custom-kinds.ts";

const scripts: Record<string, Script> = {
  ...casesFor(
    { Strict: "Strict", Warn: "Warn", Ignore: "Ignore", Other: "Other", nothing: "" },
    "unknown and repeated fields, %",
    async (lab, validation) => {
      const query = `?fieldValidation=${validation}`;
      const body =
        '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","foo":1,"labels":{"a":"1","a":"2"}},"spec":{"unknown1":1,"paused":true,"paused":false,"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"unknown2":{},"containers":[{"name":"a","image":"a","unknown3":1,"image":"b"}]}}}}';
      await lab.post(`${lab.group("apps/v1", "deployments")}${query}`, body);
      await lab.quietly({
        method: "POST",
        path: lab.group("apps/v1", "deployments"),
        body: deployment("d"),
      });
      const path = lab.group("apps/v1", "deployments", "d");
      await lab.put(`${path}${query}`, body);
      await lab.patch(
        "merge",
        `${path}${query}`,
        '{"spec":{"foo":"bar1","foo":"bar2","replicas":2,"replicas":3}}',
      );
      await lab.patch(
        "strategic",
        `${path}${query}`,
        '{"spec":{"foo":"bar1","foo":"bar2","template":{"spec":{"containers":[{"name":"a","frob":1}]}}}}',
      );
      await lab.patch(
        "json",
        `${path}${query}`,
        '[{"op":"add","path":"/spec/foo","value":"bar","foo":"a"},{"op":"add","path":"/spec/replicas","value":5,"value":6}]',
      );
      await lab.patch(
        "apply",
        `${path}${query}&fieldManager=m&force=true`,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  foo: 1\n  foo: 2\n  paused: true\n  paused: false\n",
      );
      await lab.patch(
        "apply",
        `${path}${query}&fieldManager=m&force=true`,
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d\nspec:\n  foo: 1\n  paused: true\n",
      );
    },
  ),
  ...casesFor(
    { Strict: "Strict", Warn: "Warn", Ignore: "Ignore" },
    "unknown and repeated fields of a custom resource, %",
    async (lab, validation) => {
      const group = `f-${lab.id}.example.com`;
      await createKind(
        lab,
        definition({
          group,
          kind: "Thing",
          schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: {
                  a: { type: "string" },
                  embedded: {
                    type: "object",
                    "x-kubernetes-embedded-resource": true,
                    properties: { spec: { type: "object", properties: { x: { type: "string" } } } },
                  },
                  free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
            },
          },
        }),
      );
      const path = lab.group(`${group}/v1`, "things");
      const query = `?fieldValidation=${validation}`;
      const body = `{"apiVersion":"${group}/v1","kind":"Thing","metadata":{"name":"t","foo":1},"spec":{"a":"1","a":"2","unknown":1,"free":{"any":1},"embedded":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x","bar":2},"spec":{"x":"1","y":2}}}}`;
      await lab.post(`${path}${query}`, body);
      await lab.quietly({
        method: "POST",
        path,
        body: { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "t" }, spec: {} },
      });
      await lab.put(`${path}/t${query}`, body);
      await lab.patch("merge", `${path}/t${query}`, '{"spec":{"foo":"bar1","foo":"bar2"}}');
      await lab.patch(
        "json",
        `${path}/t${query}`,
        '[{"op":"add","path":"/spec/foo","value":"bar","foo":"a"}]',
      );
      await lab.patch(
        "apply",
        `${path}/t${query}&fieldManager=m&force=true`,
        `apiVersion: ${group}/v1\nkind: Thing\nmetadata:\n  name: t\nspec:\n  foo: 1\n  foo: 2\n`,
      );
    },
  ),
  "no namespace": async (lab) => {
    const elsewhere = `/api/v1/namespaces/nowhere-${lab.id}/configmaps`;
    await lab.post(elsewhere, configMap("a"));
    await lab.put(`${elsewhere}/a`, configMap("a"));
    await lab.patch("apply", `${elsewhere}/a?fieldManager=m`, configMap("a"));
    await lab.get(`${elsewhere}/a`);
    await lab.delete(`${elsewhere}/a`);
    await lab.post("/api/v1/configmaps", configMap("a", {}, { namespace: lab.ns }));
    await lab.post("/api/v1/namespaces/UPPER/configmaps", configMap("a"));
  },
};

export const fieldCases = casesOf("fields", scripts);
