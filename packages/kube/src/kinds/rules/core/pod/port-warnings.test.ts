import assert from "node:assert/strict";
import { suite, test } from "node:test";

import * as fc from "fast-check";

import { portWarnings } from "./port-warnings.ts";

const ports = fc.array(
  fc.record({
    containerPort: fc.constantFrom(1, 2),
    protocol: fc.constantFrom("TCP", "UDP"),
    hostPort: fc.constantFrom(0, 7, 8),
    hostIP: fc.constantFrom("", "10.0.0.1", "10.0.0.2"),
  }),
  { maxLength: 12 },
);
type Port = typeof ports extends fc.Arbitrary<(infer T)[]> ? T : never;

suite("ports in each other's way", () => {
  test("they are those of comparing each port with each before it", () => {
    fc.assert(
      fc.property(ports, (all) => {
        const said = [...portWarnings({ containers: [{ ports: all }] }, "spec")];
        assert.deepEqual(
          said.filter((text) => text.includes(" port definition with ")),
          compared(all),
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

function compared(all: readonly Port[]): string[] {
  const path = (index: number): string => `spec.containers[0].ports[${index}]`;
  return all.flatMap((port, index) =>
    all.slice(0, index).flatMap((other, before) => {
      const relation = relationOf(port, other);
      if (relation === undefined) return [];
      return [`${path(index)}: ${relation} port definition with ${path(before)}`];
    }),
  );
}

function relationOf(port: Port, other: Port): string | undefined {
  if (port.containerPort !== other.containerPort || port.protocol !== other.protocol) return;
  if (port.hostIP === other.hostIP && port.hostPort === other.hostPort) return "duplicate";
  if (port.hostPort === 0 || other.hostPort === 0) return "overlapping";
  const isOneAny = (port.hostIP === "") !== (other.hostIP === "");
  return port.hostPort === other.hostPort && isOneAny ? "dangerously ambiguous" : undefined;
}
