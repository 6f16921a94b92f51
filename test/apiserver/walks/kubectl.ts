// What people do with kubectl, from the first command to the last.

import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { stringify } from "yaml";

import { kubeconfigFor } from "../../oracle/cluster-files.ts";
import { until } from "../../tools/until.ts";
import { configMap, definition, deployment } from "../objects.ts";
import type { Target } from "../target.ts";
import { Commands, type CommandOptions } from "./commands.ts";

export interface KubectlWalk {
  /** Of its own, so that several walks may go on at once. */
  readonly namespace: string;
  readonly credentials: "certificate" | "token";
}

/** The same commands with either sort of credentials. */
export async function kubectlWalk(
  target: Target,
  { namespace, credentials }: KubectlWalk,
  signal: AbortSignal,
): Promise<void> {
  const { token: ownToken } = target.admin;
  const kubeconfig =
    credentials === "certificate" ? target.kubeconfig : writeTokenConfig(target, "admin", ownToken);
  const commands = new Commands(target, kubeconfig);
  const kubectl = async (arguments_: string, options?: CommandOptions): Promise<string> =>
    await commands.must("kubectl", arguments_.split(" "), signal, options);
  const fails = async (
    arguments_: string,
    pattern: RegExp,
    options?: CommandOptions,
  ): Promise<void> => {
    const { code, stdout, stderr } = await commands.run(
      "kubectl",
      arguments_.split(" "),
      signal,
      options,
    );
    assert.notEqual(code, 0, `kubectl ${arguments_} succeeded: ${stdout}`);
    assert.match(stdout + stderr, pattern);
  };
  const n = `-n ${namespace}`;

  // Looking around.
  assert.match(await kubectl("version"), /Server Version: v1\.36\.3/);
  const resources = await kubectl("api-resources");
  for (const line of [
    /^configmaps +cm +v1 +true +ConfigMap$/m,
    /^deployments +deploy +apps\/v1 +true +Deployment$/m,
    /^nodes +no +v1 +false +Node$/m,
  ]) {
    assert.match(resources, line);
  }
  assert.match(await kubectl("api-versions"), /^apps\/v1$/m);
  assert.match(await kubectl("explain deployment.spec.replicas"), /FIELD: replicas <integer>/);
  assert.match(
    await kubectl("explain pods.spec --recursive"),
    /containers\s+<\[\]Container> -required-/,
  );
  assert.match(
    await kubectl("explain deployment.spec.strategy.type"),
    /ENUM:\s+Recreate\s+RollingUpdate/,
  );
  assert.match(await kubectl("cluster-info"), /is running at/);
  const ready = ["get", "--raw", "/readyz"];
  await until(
    async () => (await commands.run("kubectl", ready, signal)).stdout.startsWith("ok"),
    signal,
    "kubectl to hear that the server is ready",
  );

  // Creating by command: typed clients, which speak protobuf.
  await kubectl(`create namespace ${namespace}`);
  assert.equal(
    await kubectl(`create configmap made ${n} --from-literal=a=1`),
    "configmap/made created\n",
  );
  await fails(`create configmap made ${n} --from-literal=a=1`, /AlreadyExists|already exists/);
  await kubectl(`create secret generic hidden ${n} --from-literal=password=hush`);
  await kubectl(`create deployment web ${n} --image=web:1 --replicas=2`);
  await kubectl(`create serviceaccount robot ${n}`);
  await kubectl(`create role reader ${n} --verb=get,list,watch --resource=configmaps`);
  await kubectl(`create rolebinding reader ${n} --role=reader --serviceaccount=${namespace}:robot`);
  await kubectl(`create quota limits ${n} --hard=pods=10`);
  await kubectl(`expose deployment web ${n} --port=80`);
  await kubectl(`create job once ${n} --image=once:1`);
  const schedule = "--schedule=*/5 * * * *";
  await commands.must(
    "kubectl",
    ["create", "cronjob", "often", "-n", namespace, "--image=often:1", schedule],
    signal,
  );
  assert.match(await kubectl(`get all ${n}`), /deployment\.apps\/web +0\/2/);
  assert.match(await kubectl(`get secret hidden ${n} -o jsonpath={.data.password}`), /^aHVzaA==$/);
  assert.match(await kubectl(`describe deployment web ${n}`), /Replicas: +2 desired/);

  // Applying on the client's side.
  const object = (data: Record<string, string>): string =>
    stringify(configMap("applied", data, { namespace }));
  assert.equal(
    await kubectl("apply -f -", { input: object({ a: "1", b: "1" }) }),
    "configmap/applied created\n",
  );
  assert.equal(
    await kubectl("apply -f -", { input: object({ a: "1", b: "1" }) }),
    "configmap/applied unchanged\n",
  );
  const before = await kubectl(`get cm applied ${n} -o jsonpath={.metadata.resourceVersion}`);
  const difference = await commands.run("kubectl", ["diff", "-f", "-"], signal, {
    input: object({ a: "2" }),
  });
  assert.equal(difference.code, 1, difference.stderr);
  assert.match(difference.stdout, /^-  a: "1"$/m);
  assert.match(difference.stdout, /^-  b: "1"$/m);
  assert.equal(
    await kubectl("apply -f - --dry-run=server", { input: object({ a: "2" }) }),
    "configmap/applied configured (server dry run)\n",
  );
  assert.equal(
    await kubectl(`get cm applied ${n} -o jsonpath={.metadata.resourceVersion}`),
    before,
  );
  assert.equal(
    await kubectl("apply -f -", { input: object({ a: "2" }) }),
    "configmap/applied configured\n",
  );
  assert.equal(await kubectl(`get cm applied ${n} -o jsonpath={.data}`), '{"a":"2"}');
  await fails("apply -f -", /unknown field "nonsense"/, {
    input: stringify({ ...configMap("strict", {}, { namespace }), nonsense: 1 }),
  });

  // Applying on the server's side.
  const served = (image: string): string =>
    stringify(
      deployment(
        "served",
        {
          template: {
            metadata: { labels: { app: "x" } },
            spec: { containers: [{ name: "main", image }] },
          },
        },
        { namespace },
      ),
    );
  assert.equal(
    await kubectl("apply --server-side -f -", { input: served("a:1") }),
    "deployment.apps/served serverside-applied\n",
  );
  const version = await kubectl(
    `get deployment served ${n} -o jsonpath={.metadata.resourceVersion}`,
  );
  await kubectl("apply --server-side -f -", { input: served("a:1") });
  assert.equal(
    await kubectl(`get deployment served ${n} -o jsonpath={.metadata.resourceVersion}`),
    version,
  );
  await fails("apply --server-side --field-manager=other -f -", /conflict with "kubectl"/, {
    input: served("a:2"),
  });
  await kubectl("apply --server-side --field-manager=other --force-conflicts -f -", {
    input: served("a:2"),
  });
  assert.equal(await kubectl(`get deployment served ${n} -o jsonpath={..image}`), "a:2");
  assert.match(
    await kubectl(`get deployment served ${n} -o yaml --show-managed-fields`),
    /manager: other/,
  );

  // Changing.
  assert.equal(await kubectl(`label cm applied ${n} tier=front`), "configmap/applied labeled\n");
  await fails(`label cm applied ${n} tier=back`, /already has a value/);
  await kubectl(`label cm applied ${n} tier=back --overwrite`);
  assert.match(await kubectl(`get cm ${n} -l tier=back -o name`), /^configmap\/applied\n$/);
  await kubectl(`label cm applied ${n} tier-`);
  await kubectl(`annotate cm applied ${n} note=here`);
  await commands.must(
    "kubectl",
    ["patch", "cm", "applied", "-n", namespace, "-p", '{"data":{"c":"3"}}'],
    signal,
  );
  await commands.must(
    "kubectl",
    ["patch", "cm", "applied", "-n", namespace, "--type=merge", "-p", '{"data":{"c":null}}'],
    signal,
  );
  await commands.must(
    "kubectl",
    [
      "patch",
      "cm",
      "applied",
      "-n",
      namespace,
      "--type=json",
      "-p",
      '[{"op":"add","path":"/data/d","value":"4"}]',
    ],
    signal,
  );
  assert.equal(await kubectl(`get cm applied ${n} -o jsonpath={.data}`), '{"a":"2","d":"4"}');
  await kubectl(`scale deployment served ${n} --replicas=5`);
  await fails(
    `scale deployment served ${n} --replicas=6 --current-replicas=1`,
    /Expected replicas to be 1, was 5/,
  );
  assert.equal(
    await kubectl(`get deployment served ${n} -o jsonpath={.spec.replicas}/{.metadata.generation}`),
    "5/3",
  );
  await kubectl(`set image deployment/served ${n} main=a:3`);
  await kubectl(`set env deployment/served ${n} A=1`);
  assert.match(await kubectl(`rollout history deployment/served ${n}`), /deployment\.apps\/served/);
  const editor = join(commands.home, "editor.sh");
  writeFileSync(editor, `#!/bin/sh\nsed -i 's/note: here/note: edited/' "$1"\n`);
  chmodSync(editor, 0o755);
  assert.equal(
    await kubectl(`edit cm applied ${n}`, { environment: { EDITOR: editor } }),
    "configmap/applied edited\n",
  );
  assert.equal(
    await kubectl(`get cm applied ${n} -o jsonpath={.metadata.annotations.note}`),
    "edited",
  );
  const yaml = await kubectl(`get cm applied ${n} -o yaml`);
  assert.equal(
    await kubectl("replace -f -", { input: yaml.replace("note: edited", "note: replaced") }),
    "configmap/applied replaced\n",
  );
  await fails("replace -f -", /the object has been modified/, {
    input: yaml.replace("note: edited", "note: late"),
  });
  await kubectl("replace --force -f -", { input: object({ z: "1" }) });

  // Watching and waiting.
  {
    await using watching = commands.start(
      "kubectl",
      ["get", "cm", "applied", "-n", namespace, "-w", "--output-watch-events"],
      signal,
    );
    await watching.until(/ADDED +applied +1/);
    await commands.must(
      "kubectl",
      ["patch", "cm", "applied", "-n", namespace, "-p", '{"data":{"more":"1"}}'],
      signal,
    );
    await watching.until(/MODIFIED +applied +2/);
    await kubectl(`delete cm applied ${n}`);
    await watching.until(/DELETED +applied/);
  }
  {
    const waiting = kubectl(`wait deployment/web ${n} --for=condition=Available --timeout=240s`);
    const rolling = kubectl(`rollout status deployment/web ${n} --timeout=240s`);
    const status = {
      observedGeneration: 1,
      replicas: 2,
      updatedReplicas: 2,
      readyReplicas: 2,
      availableReplicas: 2,
      conditions: [{ type: "Available", status: "True", reason: "R", message: "m" }],
    };
    // Nobody runs pods here unless there are controllers: then it becomes so by itself, too.
    await commands.run(
      "kubectl",
      [
        "patch",
        "deployment",
        "web",
        "-n",
        namespace,
        "--subresource=status",
        "--type=merge",
        "-p",
        JSON.stringify({ status }),
      ],
      signal,
    );
    assert.match(await waiting, /condition met/);
    assert.match(await rolling, /successfully rolled out/);
  }
  assert.match(await kubectl(`get events ${n}`).then((text) => text || "none"), /./);

  // Custom resources.
  const group = `${namespace}.example.com`;
  const schema = {
    type: "object",
    properties: {
      spec: {
        type: "object",
        description: "What is wanted.",
        properties: {
          size: { type: "integer", minimum: 1 },
          mode: { type: "string", enum: ["a", "b"] },
        },
      },
    },
  };
  const crd = stringify(
    definition({
      group,
      kind: "Thing",
      schema,
      version: {
        additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
      },
    }),
  );
  await kubectl("apply -f -", { input: crd });
  await kubectl(`wait crd/things.${group} --for=condition=Established --timeout=240s`);
  const thing = (size: number): string =>
    stringify({
      apiVersion: `${group}/v1`,
      kind: "Thing",
      metadata: { name: "one", namespace },
      spec: { size },
    });
  assert.match(await kubectl("apply -f -", { input: thing(3) }), /thing\..* created/);
  assert.match(await kubectl("apply -f -", { input: thing(4) }), /thing\..* configured/);
  assert.match(await kubectl("apply -f -", { input: thing(4) }), /thing\..* unchanged/);
  await fails(
    "apply -f -",
    /spec\.size: Invalid value: 0: .*should be greater than or equal to 1/,
    { input: thing(0) },
  );
  assert.match(await kubectl(`get things.${group} ${n}`), /^one +4$/m);
  assert.match(
    await kubectl(`explain things.spec.mode --api-version=${group}/v1`),
    /ENUM:\s+a\s+b/,
  );

  // Rights, by certificate and by token.
  assert.equal((await kubectl(`auth can-i delete nodes`)).trim(), "yes");
  assert.match(await kubectl("auth whoami"), /oracle-admin/);
  await fails(`auth can-i delete pods ${n} --as=system:serviceaccount:${namespace}:robot`, /^no/);
  assert.equal(
    (
      await kubectl(`auth can-i get configmaps ${n} --as=system:serviceaccount:${namespace}:robot`)
    ).trim(),
    "yes",
  );
  const token = (await kubectl(`create token robot ${n}`)).trim();
  const byToken = { kubeconfig: writeTokenConfig(target, namespace, token) };
  assert.match(
    await kubectl("auth whoami", byToken),
    new RegExp(`system:serviceaccount:${namespace}:robot`),
  );
  assert.match(await kubectl(`get configmaps ${n}`, byToken), /made/);
  await fails(`get secrets ${n}`, /Forbidden|forbidden/, byToken);
  assert.match(await kubectl(`auth can-i --list ${n}`, byToken), /configmaps/);

  // Deleting, with each cascade.
  for (const [cascade, isOrphaned] of [
    ["background", false],
    ["foreground", false],
    ["orphan", true],
  ] as const) {
    const owner = await commands.must(
      "kubectl",
      ["create", "-f", "-", "-o", "jsonpath={.metadata.uid}"],
      signal,
      { input: stringify(configMap("owner", {}, { namespace })) },
    );
    const ownerReferences = [
      { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner, blockOwnerDeletion: true },
    ];
    await kubectl("create -f -", {
      input: stringify(configMap("owned", {}, { namespace, ownerReferences })),
    });
    await kubectl(`delete cm owner ${n} --cascade=${cascade}`);
    if (isOrphaned) {
      assert.equal(await kubectl(`get cm owned ${n} -o jsonpath={.metadata.ownerReferences}`), "");
      await kubectl(`delete cm owned ${n}`);
    } else {
      await kubectl(`wait cm/owned ${n} --for=delete --timeout=240s`);
    }
  }
  await kubectl(`delete deployment,service,job,cronjob --all ${n} --wait=false`);
  await kubectl(`delete crd things.${group}`);
  await fails(
    `get things.${group} ${n}`,
    /the server doesn't have a resource type|could not find|NotFound/,
  );
  await kubectl(`delete namespace ${namespace} --timeout=240s`);
  await fails(`get namespace ${namespace}`, /NotFound/);
}

/** A kubeconfig for whoever has this token. */
function writeTokenConfig({ url, ca, folder }: Target, name: string, token: string): string {
  const path = join(folder, `${name}.token.kubeconfig`);
  writeFileSync(path, kubeconfigFor({ url, ca, token }), { mode: 0o600 });
  return path;
}
