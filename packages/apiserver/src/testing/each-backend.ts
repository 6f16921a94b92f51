// One suite on every backend: what an API server promises does not depend on where its objects are.

import { after, before, suite, test, type TestContext } from "node:test";

import { until } from "@keelson/base/testing";
import { postgresFixture, sqliteMemory, type Bed } from "@keelson/store/testing";
import type { Store } from "@keelson/store";

import { arkAdmission } from "../ark/admission/ark-admission.ts";
import { arkLookup, storedValues } from "../ark/admission/lookup.ts";
import { ModelHosts } from "../ark/admission/model-hosts.ts";
import { arkResources } from "../ark/ark-kinds.ts";
import type { AdmissionPlugin } from "../admission/admission.ts";
import { Api } from "./api.ts";
import { apiServicesSettled } from "./api-services.ts";
import { startTestServer, type TestServer } from "./test-server.ts";

/** A server that the tests of a suite share, each in a namespace of its own. */
export interface ServerBed {
  readonly api: Api;
  readonly store: Store;
  readonly server: TestServer;
  /** Makes a namespace, and answers its name. */
  readonly namespace: () => Promise<string>;
  /** Stops the server, and starts another on the same store. */
  readonly restart: () => Promise<void>;
}

/** Runs the tests on SQLite and on the PostgreSQL that is given, each on one server with the Ark kinds. */
export function eachBackend(
  name: string,
  postgres: () => Promise<{ readonly url: string }>,
  define: (
    it: (name: string, run: (bed: ServerBed, t: TestContext) => Promise<void>) => void,
  ) => void,
): void {
  const resources = arkResources();
  const url = async (): Promise<string> => (await postgres()).url;
  const onPostgres = postgresFixture({ name: "PostgreSQL", missing: undefined, url });
  for (const fixture of [sqliteMemory, onPostgres]) {
    suite(`${name}, on ${fixture.name}`, () => {
      const stop = new AbortController();
      let parts: { bed: Bed; store: Store; server: TestServer } | undefined;
      let namespaces = 0;
      const start = (store: Store): Promise<TestServer> =>
        startTestServer({ store, resources, admission: [ark(store)] }, stop.signal);
      before(async () => {
        const bed = await fixture.prepare();
        const store = await bed.open();
        const server = await start(store);
        await settled(new Api(server.url, stop.signal));
        parts = { bed, store, server };
      });
      after(async () => {
        await parts?.server[Symbol.asyncDispose]();
        await parts?.store[Symbol.asyncDispose]();
        await parts?.bed[Symbol.asyncDispose]();
        stop.abort();
      });
      define((title, run) => {
        test(title, async (t) => {
          if (parts === undefined) throw new Error("there is no server");
          const own = parts;
          const bed: ServerBed = {
            get api() {
              return new Api(own.server.url, t.signal);
            },
            get server() {
              return own.server;
            },
            store: own.store,
            namespace: async () => {
              const made = `test-${(namespaces += 1)}`;
              const path = `/api/v1/namespaces/${made}`;
              await bed.api.create("/api/v1/namespaces", {
                apiVersion: "v1",
                kind: "Namespace",
                metadata: { name: made },
              });
              // What every namespace is given comes a moment later; tests that count revisions begin after it.
              for (const one of ["serviceaccounts/default", "configmaps/kube-root-ca.crt"]) {
                const isThere = async (): Promise<boolean> =>
                  (await bed.api.get(`${path}/${one}`)).code === 200;
                await until(isThere, `${one} in ${made}`);
              }
              return made;
            },
            restart: async () => {
              await own.server[Symbol.asyncDispose]();
              own.server = await start(own.store);
            },
          };
          await run(bed, t);
        });
      });
    });
  }
}

/** The rules of the Ark kinds; models may be anywhere but where nobody lets them. */
function ark(store: Store): AdmissionPlugin {
  return arkAdmission({
    lookup: arkLookup(store, storedValues(store)),
    modelHosts: new ModelHosts({ allowedRanges: [], domains: [] }),
  });
}

/** Waits for what the loops of a new cluster write first: tests that count revisions begin after it. */
async function settled(api: Api): Promise<void> {
  for (const namespace of ["default", "kube-system", "kube-public", "kube-node-lease"]) {
    for (const one of ["serviceaccounts/default", "configmaps/kube-root-ca.crt"]) {
      const path = `/api/v1/namespaces/${namespace}/${one}`;
      await until(async () => (await api.get(path)).code === 200, path);
    }
  }
  await apiServicesSettled(api);
  // Roles that are made of others, each of more than the next.
  const rulesOf = async (name: string): Promise<number> => {
    const path = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`;
    const { rules } = (await api.get(path)).object;
    return Array.isArray(rules) ? rules.length : 0;
  };
  await until(async () => {
    const [view, edit, admin] = [
      await rulesOf("view"),
      await rulesOf("edit"),
      await rulesOf("admin"),
    ];
    return view > 0 && edit > view && admin > edit;
  }, "the rules of admin, edit and view");
}
