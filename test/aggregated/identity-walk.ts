// Who callers are, and what they may: through the host, and past it (API-15, KB 66).

import assert from "node:assert/strict";

import { CertificateAuthority } from "../tools/certificates.ts";
import { until } from "../tools/until.ts";
import { expectStatus, grant, messageOf, newToken } from "./asking.ts";
import type { Bed } from "./bed.ts";

const agents = "/apis/ark.mckinsey.com/v1alpha1/namespaces/default/agents";

export async function identityWalk(bed: Bed, signal: AbortSignal): Promise<void> {
  await openPaths(bed, signal);
  await withoutFrontProxy(bed, signal);
  await withFrontProxy(bed, signal);
  await rightsByTheHost(bed, signal);
}

async function openPaths({ replica }: Bed, signal: AbortSignal): Promise<void> {
  using nobody = replica.connectAs({});
  for (const path of ["/healthz", "/livez", "/version"]) {
    await expectStatus(nobody, { path }, 200, signal);
  }
  // On a machine that stands still for seconds a part may not have told in time that it is well.
  for (const path of ["/readyz", "/readyz?verbose", "/readyz/host"]) {
    const isReady = async (): Promise<boolean> =>
      (await nobody.send({ path }, signal)).status === 200;
    await until(isReady, signal, `${path} to be 200`);
  }
  const closed = await expectStatus(nobody, { path: "/apis" }, 403, signal);
  assert.equal(messageOf(closed), 'forbidden: User "system:anonymous" cannot get path "/apis"');
  await expectStatus(nobody, { path: "/openapi/v3" }, 403, signal);
}

/** API-15: called directly. */
async function withoutFrontProxy(bed: Bed, signal: AbortSignal): Promise<void> {
  const { replica, oracle } = bed;
  using nobody = replica.connectAs({});
  const cannot = (user: string): string =>
    `agents.ark.mckinsey.com is forbidden: User "${user}" cannot list resource "agents" in API group "ark.mckinsey.com" in the namespace "default"`;
  const anonymous = cannot("system:anonymous");
  assert.equal(messageOf(await expectStatus(nobody, { path: agents }, 403, signal)), anonymous);

  const token = await newToken(bed, "walker", signal);
  using walker = replica.connectAs({ token });
  const refused = await expectStatus(walker, { path: agents }, 403, signal);
  assert.equal(messageOf(refused), cannot("system:serviceaccount:default:walker"));

  using forger = replica.connectAs({ token: `${token.slice(0, -4)}AAAA` });
  await expectStatus(forger, { path: agents }, 401, signal);

  // Headers without the certificate of a front proxy say nothing.
  const headers = { "x-remote-user": "oracle-admin", "x-remote-group": "system:masters" };
  const ignored = await expectStatus(nobody, { path: agents, headers }, 403, signal);
  assert.equal(messageOf(ignored), anonymous);
  const own = await expectStatus(walker, { path: agents, headers }, 403, signal);
  assert.equal(messageOf(own), cannot("system:serviceaccount:default:walker"));

  // The admin's certificate and token are good here too: the host says so.
  const { certificate, key } = oracle.admin;
  using byCertificate = replica.connectAs({ certificate, key });
  await expectStatus(byCertificate, { path: agents }, 200, signal);
  using byToken = replica.connectAs({ token: oracle.admin.token });
  await expectStatus(byToken, { path: agents }, 200, signal);
  const acting = { "impersonate-user": "walker-to-be" };
  const impersonated = await expectStatus(byToken, { path: agents, headers: acting }, 403, signal);
  assert.equal(messageOf(impersonated), cannot("walker-to-be"));
}

async function withFrontProxy(bed: Bed, signal: AbortSignal): Promise<void> {
  const { replica, oracle } = bed;
  const headers = { "x-remote-user": "carol", "x-remote-group": "system:masters" };
  using proxy = replica.connectAs(await bed.frontProxy());
  await expectStatus(proxy, { path: agents, headers }, 200, signal);
  // A group may have a comma in its name: it is not two groups.
  const joined = { "x-remote-user": "carol", "x-remote-group": "a, system:masters" };
  await expectStatus(proxy, { path: agents, headers: joined }, 403, signal);
  // A proxy that names nobody is nobody whom the host's clients' authority knows.
  await expectStatus(proxy, { path: agents }, 401, signal);

  using wrongName = replica.connectAs(await bed.frontProxy("somebody-else"));
  await expectStatus(wrongName, { path: agents, headers }, 401, signal);
  const foreign = await CertificateAuthority.create("oracle-front-proxy-ca");
  using forged = replica.connectAs(await foreign.issue({ name: "front-proxy-client" }));
  await expectStatus(forged, { path: agents, headers }, 401, signal);
  // Who is somebody by certificate stays that, whatever the headers say.
  using client = replica.connectAs(await oracle.issue({ name: "dave" }));
  const dave = await expectStatus(client, { path: agents, headers }, 403, signal);
  assert.match(messageOf(dave), /User "dave" cannot list/);

  // Headers that a client sends to the host go no further.
  using atHost = oracle.connectAs(await oracle.issue({ name: "erin" }));
  const erin = await expectStatus(atHost, { path: agents, headers }, 403, signal);
  assert.match(messageOf(erin), /User "erin" cannot list/);
}

async function rightsByTheHost(bed: Bed, signal: AbortSignal): Promise<void> {
  const { replica, oracle } = bed;
  const pair = await oracle.issue({ name: "bob" });
  using atHost = oracle.connectAs(pair);
  using direct = replica.connectAs(pair);
  await expectStatus(atHost, { path: agents }, 403, signal);
  await expectStatus(direct, { path: agents }, 403, signal);
  await grant(bed, { user: "bob", verbs: ["get", "list", "watch"] }, signal);
  for (const client of [atHost, direct]) {
    // A no counts for ten seconds at most.
    await until(async () => (await client.send({ path: agents }, signal)).status === 200, signal);
    const body = {
      apiVersion: "ark.mckinsey.com/v1alpha1",
      kind: "Agent",
      metadata: { name: "a" },
    };
    await expectStatus(client, { method: "POST", path: agents, body }, 403, signal);
  }
}
