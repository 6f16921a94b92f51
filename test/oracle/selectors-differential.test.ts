// Selectors, names, quantities and times: what the real server says of them, and what we say.

import assert from "node:assert/strict";

import { seededRandom, type Json, type JsonObject, type Random } from "@keelson/base";
import {
  BadQuantity,
  BadSelector,
  BadTime,
  failures,
  parseFieldSelector,
  parseLabelSelector,
  parseMicroTime,
  parseQuantity,
  printMicroTime,
  printQuantity,
  quote,
  roundUpQuantity,
  subdomainNames,
  validateMetadata,
  validateNamePrefix,
  type Status,
} from "@keelson/kube";

import { startOracle } from "./cluster.ts";
import { trialSettings } from "./differential.ts";
import { oracleTest } from "./oracle-test.ts";

const generatedCases = 200;
const configMaps = "/api/v1/namespaces/default/configmaps";

/** Each of the inputs through both; the answers by input. */
async function compareAll<Input extends string>(
  inputs: readonly Input[],
  real: (input: Input) => Promise<unknown>,
  ours: (input: Input) => unknown,
): Promise<void> {
  const differences: string[] = [];
  for (const input of new Set(inputs)) {
    const theirs = JSON.stringify(await real(input));
    const mine = JSON.stringify(ours(input));
    if (theirs !== mine)
      differences.push(`${JSON.stringify(input)}\n real ${theirs}\n ours ${mine}`);
  }
  assert.deepEqual(differences, []);
}

function generate(random: Random, parts: readonly string[], count: number): string[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + random.integer(7) }, () => random.pick(parts)).join(""),
  );
}

oracleTest("selectors, names, quantities and times agree with the real server", async (t) => {
  const { seed, count } = trialSettings(generatedCases);
  await using oracle = await startOracle({}, t.signal);
  t.diagnostic(`seed ${seed}`);
  await t.test("label selectors", async ({ signal }) => {
    const parts = [
      "a",
      "app",
      "in",
      "notin",
      " ",
      ",",
      "(",
      ")",
      "=",
      "==",
      "!=",
      "!",
      ">",
      "<",
      "5",
      "x/y",
      "-",
      "b.c",
      "\n",
    ];
    const inputs = [
      "",
      "a in (b,c),d notin (e)",
      "a=b,",
      "a>5",
      "!a",
      "a in ()",
      "A/B/C=d",
      ...generate(seededRandom(`${seed}/labels`), parts, count),
    ];
    await compareAll(
      inputs,
      async (text) => {
        const path = `${configMaps}?limit=1&labelSelector=${encodeURIComponent(text)}`;
        const { status, body } = await oracle.client.send({ path }, signal);
        return status === 200 ? "fine" : (body as Status).message;
      },
      (text) =>
        outcomeOf(
          () => parseLabelSelector(text),
          BadSelector,
          (message) => message,
        ),
    );
  });

  await t.test("field selectors", async ({ signal }) => {
    const parts = ["metadata.name", "=", "==", "!=", "x", ",", "\\", "\\,", "\\="];
    const known = ["metadata.name", "metadata.namespace"];
    await compareAll(
      [
        "metadata.name=x",
        "metadata.name",
        "metadata.name=a=b",
        "=",
        "!=,metadata.name=x,==",
        "=x",
        "x=",
        "\\=,!=",
        ...generate(seededRandom(`${seed}/fields`), parts, count),
      ],
      async (text) => {
        const path = `${configMaps}?limit=1&fieldSelector=${encodeURIComponent(text)}`;
        const { status, body } = await oracle.client.send({ path }, signal);
        return status === 200 ? "fine" : (body as Status).message;
      },
      (text) =>
        outcomeOf(
          () => parseFieldSelector(text),
          BadSelector,
          (message) => message,
          (selector) => {
            const unknown = selector.find(({ field }) => !known.includes(field));
            if (unknown === undefined) return "fine";
            const only = known.map(quote).join(", ");
            return `${quote(unknown.field)} is not a known field selector: only ${only}`;
          },
        ),
    );
  });

  await t.test("names, labels and annotations", async ({ signal }) => {
    const parts = ["a", "B", "-", ".", "/", "_", "1", "x".repeat(70), "ü", "~"];
    const random = seededRandom(`${seed}/names`);
    const texts = generate(random, parts, count);
    const metadatas = texts.flatMap((text): JsonObject[] => [
      { name: text },
      { name: "ok", labels: { [text]: "v" } },
      { name: "ok", labels: { k: text } },
      { name: "ok", annotations: { [text]: "v" } },
      { name: "ok", finalizers: [text] },
      { generateName: text },
    ]);
    const inputs = [
      ...metadatas.slice(0, count * 3),
      { generateName: `${"x".repeat(60)}/-` },
      { generateName: `${"x".repeat(60)}%-` },
      { generateName: `${"x".repeat(60)}/a-` },
    ].map((metadata) => JSON.stringify(metadata));
    await compareAll(
      inputs,
      async (text) => {
        const body = { apiVersion: "v1", kind: "ConfigMap", metadata: JSON.parse(text) as Json };
        const path = `${configMaps}?dryRun=All`;
        const response = await oracle.client.send({ method: "POST", path, body }, signal);
        return response.status === 201
          ? "fine"
          : facts(response.body as Status, text.includes("generateName"));
      },
      (text) => {
        const metadata = JSON.parse(text) as JsonObject;
        const generated =
          typeof metadata["generateName"] === "string"
            ? `${metadata["generateName"].slice(0, 58)}aaaaa`
            : undefined;
        const whole = {
          namespace: "default",
          ...(generated === undefined ? {} : { name: generated }),
          ...metadata,
        };
        const found = validateMetadata(whole, {
          isNamespaced: true,
          nameRule: subdomainNames,
          isBuiltIn: true,
        });
        const errors = found.length > 0 ? found : validateNamePrefix(whole);
        const name = typeof whole.name === "string" ? whole.name : "";
        return errors.length === 0
          ? "fine"
          : facts(
              failures.invalid({ group: "", kind: "ConfigMap" }, name, errors).status,
              generated !== undefined,
            );
      },
    );
  });

  await t.test("quantities", async ({ signal }) => {
    const parts = [
      "1",
      "0",
      "5",
      "12",
      "000",
      ".",
      "m",
      "k",
      "Ki",
      "Gi",
      "E",
      "e",
      "e3",
      "-",
      "+",
      "n",
      "Mi",
      "u",
      "9",
    ];
    const inputs = [
      "1000m",
      "0.5",
      "1.5Gi",
      "1024Mi",
      "1e3",
      "0",
      "1.500",
      "e-19",
      "e3",
      "-e-12",
      ".e-19",
      ".5e-19",
      "n",
      ...generate(seededRandom(`${seed}/quantities`), parts, count),
    ].filter(
      // We refuse what would take memory without bound.
      (text) => !/[eE][+-]?\d{4}/.test(text),
    );
    await compareAll(
      inputs,
      async (text) => {
        const body = {
          apiVersion: "v1",
          kind: "LimitRange",
          metadata: { name: "q" },
          spec: { limits: [{ type: "Pod", max: { "example.com/x": text } }] },
        };
        const path = "/api/v1/namespaces/default/limitranges?dryRun=All";
        const response = await oracle.client.send({ method: "POST", path, body }, signal);
        if (response.status !== 201) return messageEnd(response.body as Status);
        const { spec } = response.body as { spec: { limits: { max: Record<string, string> }[] } };
        return spec.limits[0]?.max["example.com/x"];
      },
      (text) =>
        outcomeOf(
          () => printQuantity(roundUpQuantity(parseQuantity(text), -3)),
          BadQuantity,
          (message) => message,
          (printed) => printed,
        ),
    );
  });

  await t.test("times", async ({ signal }) => {
    const parts = [
      "2026",
      "-",
      "01",
      "31",
      "T",
      "12",
      ":",
      "00",
      ".123456",
      ".5",
      "Z",
      "+02:00",
      "x",
      "99",
    ];
    const inputs = [
      "2026-01-01T00:00:00.000000Z",
      "2026-01-31T12:00:00.123456+02:00",
      "2026-02-30T12:00:00.123456Z",
      "2026-01-01T00:00:00Z",
      "2026-01-01T24:00:00.000000Z",
      "2026-01-01T00:00:00.000000Zx",
      ...generate(seededRandom(`${seed}/times`), parts, Math.ceil(count / 5)),
    ];
    await compareAll(
      inputs,
      async (text) => {
        const body = {
          apiVersion: "coordination.k8s.io/v1",
          kind: "Lease",
          metadata: { name: "t" },
          spec: { renewTime: text },
        };
        const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases?dryRun=All";
        const response = await oracle.client.send({ method: "POST", path, body }, signal);
        if (response.status !== 201) return messageEnd(response.body as Status);
        return (response.body as { spec: { renewTime: string } }).spec.renewTime;
      },
      (text) =>
        outcomeOf(
          () => printMicroTime(parseMicroTime(text)),
          BadTime,
          (message) => message,
          (printed) => printed,
        ),
    );
  });
});

function outcomeOf<Value>(
  call: () => Value,
  kind: new (message: string) => Error,
  refused: (message: string) => unknown,
  accepted: (value: Value) => unknown = () => "fine",
): unknown {
  try {
    return accepted(call());
  } catch (error) {
    if (error instanceof kind) return refused(error.message);
    throw error;
  }
}

/** Code, reason and causes; the order of causes from a map is free, and generated names differ. */
function facts({ code, reason, details }: Status, isGenerated: boolean): unknown {
  const causes = (details?.causes ?? [])
    .filter(({ field }) => field !== "metadata.name" || !isGenerated)
    .map(({ message, field }) => [field, message?.replace(/: "[^"]*[a-z0-9]{5}": /, ": … : ")])
    .map((cause) => JSON.stringify(cause))
    .sort();
  return { code, reason, causes };
}

/** The words of a decoder, after where it was and what it was reading. */
function messageEnd({ message = "" }: Status): string {
  const match = /(?:quantities must match|unable to parse|parsing time).*$/s.exec(message);
  return match?.[0] ?? message;
}
