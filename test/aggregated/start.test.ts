// What a start says that cannot succeed, and two replicas a schema step apart (API-17).

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "node:test";

import { sharedThrowawayPostgres } from "@keelson/database/testing";

import { kubeconfigFor } from "../oracle/cluster-files.ts";
import { oracleTest } from "../oracle/oracle-test.ts";
import { create, expectStatus } from "./asking.ts";
import { startBed, type Bed } from "./bed.ts";
import { memory, pathOf } from "./objects.ts";
import { setSchemaStep } from "./schema-step.ts";

const memories = pathOf("memories", "default");

suite("starting behind a host", () => {
  oracleTest("what is wrong is said in a sentence that names the way out", async (t) => {
    const { signal } = t;
    const server = await sharedThrowawayPostgres("embedded");
    await using database = await server.createDatabase();
    const options = { driver: "postgresql", databaseUrl: database.url } as const;
    await using bed = await startBed(options, signal);

    // They wait for most of their time: all at once.
    const starts = (await mistakes(bed)).map(({ flags, ...mistake }) => {
      const run = async () => {
        await using other = await bed.newReplica(options);
        return await other.run(["apiserver", ...replaced(other.flags(), flags)], signal);
      };
      const ending = run();
      ending.catch(() => undefined); // Each is awaited below, in its turn.
      return { ...mistake, ending };
    });
    for (const { what, code, says, ending } of starts) {
      await t.test(what, async () => {
        const ended = await ending;
        assert.match(ended.output, says);
        assert.equal(ended.code, code, ended.output);
        assert.ok(ended.output.trim().split("\n").length < 5, ended.output);
      });
    }

    await t.test("API-17: an unmigrated database is refused with the reason", async () => {
      await using empty = await server.createDatabase();
      await using other = await bed.newReplica({ ...options, databaseUrl: empty.url });
      const { code, output } = await other.run(["apiserver", ...other.flags()], signal);
      assert.equal(code, 6);
      assert.match(output, /keelson apiserver migrate/);
    });

    await t.test("API-17: two replicas one schema step apart both serve", async () => {
      await create(bed, memories, memory("before"), signal);
      // A newer version has migrated, and ours is still there.
      await setSchemaStep(database.url, 1);
      await using late = await bed.newReplica(options);
      await late.start(signal);
      const { certificate, key } = bed.oracle.admin;
      using first = bed.replica.connectAs({ certificate, key });
      using second = late.connectAs({ certificate, key });
      const request = { method: "POST", path: memories } as const;
      await expectStatus(first, { ...request, body: memory("by-first") }, 201, signal);
      await expectStatus(second, { ...request, body: memory("by-second") }, 201, signal);
      for (const client of [first, second]) {
        for (const name of ["before", "by-first", "by-second"]) {
          await expectStatus(client, { path: `${memories}/${name}` }, 200, signal);
        }
      }
      await setSchemaStep(database.url, 1);
      await using tooLate = await bed.newReplica(options);
      const { code, output } = await tooLate.run(["apiserver", ...tooLate.flags()], signal);
      assert.equal(code, 6);
      assert.match(output, /use the newer version/);
    });
  });
});

interface Mistake {
  readonly what: string;
  /** Flags that replace those of the same name, or take them away. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly code: number;
  readonly says: RegExp;
}

async function mistakes(bed: Bed): Promise<readonly Mistake[]> {
  const { url, ca } = bed.oracle;
  const write = (name: string, text: string): string => {
    const path = join(bed.folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const stranger = await bed.oracle.issue({ name: "stranger" });
  const foreign = await bed.frontProxy("foreign");
  return [
    {
      what: "a kubeconfig that is not there",
      flags: { "--kubeconfig": join(bed.folder, "none") },
      code: 2,
      says: /found by --kubeconfig: there is no kubeconfig at .*: give its kubeconfig with --kubeconfig/,
    },
    {
      what: "no kubeconfig, and no Pod either",
      flags: { "--kubeconfig": undefined },
      code: 2,
      says: /found by the service account of a Pod: .*--kubeconfig \(KEELSON_KUBECONFIG\)/,
    },
    {
      what: "a host that does not answer",
      flags: {
        "--kubeconfig": write(
          "away",
          kubeconfigFor({ url: "https://127.0.0.1:9", ca, ...stranger }),
        ),
      },
      code: 7,
      says: /the host cluster at https:\/\/127\.0\.0\.1:9, found by --kubeconfig, cannot be reached/,
    },
    {
      what: "rights that are missing",
      flags: { "--kubeconfig": write("stranger", kubeconfigFor({ url, ca, ...stranger })) },
      code: 7,
      says: /does not let us read ConfigMap kube-system\/extension-apiserver-authentication: bind Role/,
    },
    {
      what: "credentials that the host does not know",
      flags: { "--kubeconfig": write("foreign", kubeconfigFor({ url, ca, ...foreign })) },
      code: 7,
      says: /does not know us: the credentials found by --kubeconfig are wrong or expired/,
    },
    {
      what: "a certificate that is not there",
      flags: { "--tls-cert-file": join(bed.folder, "none.crt") },
      code: 2,
      says: /none\.crt cannot be read \(ENOENT\): --tls-cert-file/,
    },
    {
      what: "a port that is taken",
      flags: { "--kube-port": String(bed.replica.port) },
      code: 3,
      says: /choose another with --kube-port/,
    },
    {
      what: "tokens that the host would judge",
      flags: { "--token-auth-file": bed.certificateFile },
      code: 2,
      says: /--token-auth-file is of no use with --aggregated: the host cluster judges tokens/,
    },
  ];
}

function replaced(flags: readonly string[], by: Mistake["flags"]): readonly string[] {
  const words = [...flags];
  for (const [name, value] of Object.entries(by)) {
    const at = words.indexOf(name);
    if (at >= 0) words.splice(at, 2);
    if (value !== undefined) words.push(name, value);
  }
  return words;
}
