// Lists: versions, pages, tokens, selectors. KB 14 to 23.

import { casesFor, casesOf, type Script } from "../case.ts";
import type { Lab } from "../lab.ts";
import { configMap, deployment, pod, secret } from "../objects.ts";

async function fill(lab: Lab, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const name = `s-${String(index).padStart(2, "0")}`;
    await lab.create(
      lab.core("secrets"),
      secret(name, { labels: { parity: index % 2 === 0 ? "even" : "odd" } }),
    );
  }
}

const lists: Record<string, Script> = {
  "nothing is an empty list": async (lab) => {
    await lab.get(lab.core("secrets"));
    await lab.get(lab.group("apps/v1", "deployments"));
    await lab.get(`/api/v1/namespaces/nowhere-${lab.id}/secrets`);
  },
  "pages of two": async (lab) => {
    await fill(lab, 5);
    let page = await lab.get(`${lab.core("secrets")}?limit=2`);
    while (page.token !== "") {
      page = await lab.get(
        `${lab.core("secrets")}?limit=2&continue=${encodeURIComponent(page.token)}`,
      );
    }
  },
  "a page as large as everything": async (lab) => {
    await fill(lab, 3);
    await lab.get(`${lab.core("secrets")}?limit=3`);
    await lab.get(`${lab.core("secrets")}?limit=4`);
    await lab.get(`${lab.core("secrets")}?limit=0`);
  },
  "pages show one moment": async (lab) => {
    await fill(lab, 4);
    const { token, version } = await lab.get(`${lab.core("secrets")}?limit=2`);
    await lab.create(lab.core("secrets"), secret("s-011"));
    await lab.must({ method: "DELETE", path: lab.core("secrets", "s-03") });
    await lab.mustPatch(lab.core("secrets", "s-02"), { metadata: { labels: { late: "1" } } });
    const second = await lab.get(
      `${lab.core("secrets")}?limit=2&continue=${encodeURIComponent(token)}`,
    );
    lab.note("one version", second.version === version);
    await lab.get(lab.core("secrets"));
  },
  "pages with a selector are filled": async (lab) => {
    await fill(lab, 9);
    let page = await lab.get(`${lab.core("secrets")}?limit=2&labelSelector=parity%3Deven`);
    while (page.token !== "") {
      page = await lab.get(
        `${lab.core("secrets")}?limit=2&labelSelector=parity%3Deven&continue=${encodeURIComponent(page.token)}`,
      );
    }
  },
  "pages of rows and of metadata": async (lab) => {
    await fill(lab, 3);
    for (const accept of [
      "application/json;as=Table;v=v1;g=meta.k8s.io",
      "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    ]) {
      const { token } = await lab.get(`${lab.core("secrets")}?limit=2`, { headers: { accept } });
      await lab.get(`${lab.core("secrets")}?limit=2&continue=${encodeURIComponent(token)}`, {
        headers: { accept },
      });
    }
  },
  "exactly an earlier moment": async (lab) => {
    await fill(lab, 2);
    const { version } = await lab.get(lab.core("secrets"));
    await lab.must({ method: "DELETE", path: lab.core("secrets", "s-00") });
    await lab.create(lab.core("secrets"), secret("new"));
    await lab.untilCached(lab.core("secrets"));
    await lab.get(`${lab.core("secrets")}?resourceVersion=${version}&resourceVersionMatch=Exact`);
    await lab.get(
      `${lab.core("secrets")}?resourceVersion=${version}&resourceVersionMatch=NotOlderThan`,
    );
    await lab.get(`${lab.core("secrets")}?resourceVersion=${version}`);
    await lab.get(`${lab.core("secrets")}?resourceVersion=${version}&limit=1`);
    await lab.get(
      `${lab.core("secrets")}?resourceVersion=${version}&limit=1&resourceVersionMatch=Exact`,
    );
  },
  "version zero": async (lab) => {
    await fill(lab, 2);
    await lab.untilCached(lab.core("secrets"));
    await lab.get(`${lab.core("secrets")}?resourceVersion=0`);
    await lab.get(`${lab.core("secrets")}?resourceVersion=0&resourceVersionMatch=NotOlderThan`);
  },
  "a future version is too large": async (lab) => {
    await lab.get(
      `${lab.core("secrets")}?resourceVersion=9999999999&resourceVersionMatch=NotOlderThan`,
    );
  },
  "exactly a future version": async (lab) => {
    await lab.get(`${lab.core("secrets")}?resourceVersion=9999999999&resourceVersionMatch=Exact`);
  },
  "a get of a future version": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.untilCached(lab.core("secrets"));
    await lab.get(`${lab.core("secrets", "a")}?resourceVersion=0`);
    await lab.get(`${lab.core("secrets", "a")}?resourceVersion=9999999999`);
  },
  "a get of a version that is none": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.get(`${lab.core("secrets", "a")}?resourceVersion=abc`);
  },
  "one namespace is not another with the same beginning": async (lab) => {
    for (const name of [`${lab.ns}-a`, `${lab.ns}-a-b`]) {
      await lab.create("/api/v1/namespaces", {
        apiVersion: "v1",
        kind: "Namespace",
        metadata: { name },
      });
      await lab.create(
        `/api/v1/namespaces/${name}/secrets`,
        secret("same", { labels: { only: lab.id } }),
      );
    }
    await lab.get(`/api/v1/namespaces/${lab.ns}-a/secrets`);
    await lab.get(`/api/v1/secrets?labelSelector=only%3D${lab.id}`);
    await lab.get(`/api/v1/secrets?labelSelector=only%3D${lab.id}&limit=1`);
  },
  "names in the order of bytes": async (lab) => {
    for (const name of ["b", "a.b", "a-b", "a0", "a", "ab"])
      await lab.create(lab.core("secrets"), secret(name));
    const { body } = await lab.quietly({ path: lab.core("secrets") });
    lab.note(
      "order",
      (body as { items: { metadata: { name: string } }[] }).items.map(
        ({ metadata }) => metadata.name,
      ),
    );
  },
  ...casesFor(
    {
      "match without version": "resourceVersionMatch=Exact",
      "match not older without version": "resourceVersionMatch=NotOlderThan",
      "unknown match": "resourceVersion=1&resourceVersionMatch=Foo",
      "unknown match without version": "resourceVersionMatch=Foo",
      "exact zero": "resourceVersion=0&resourceVersionMatch=Exact",
      "token and match": "continue=abc&resourceVersionMatch=Exact&resourceVersion=1",
      "token and match alone": "continue=abc&resourceVersionMatch=NotOlderThan",
      "token and version": "continue=abc&resourceVersion=5",
      "token and zero": "continue=abc&resourceVersion=0&limit=1",
      "bad token": "continue=abc",
      "token of base64 that is no JSON": "continue=YWJj",
      "token without version": `continue=${token({ v: "meta.k8s.io/v1", start: "x" })}`,
      "token without start": `continue=${token({ v: "meta.k8s.io/v1", rv: 5 })}`,
      "token of another form": `continue=${token({ v: "meta.k8s.io/v2", rv: 5, start: "x" })}`,
      "token that leaves its place": `continue=${token({ v: "meta.k8s.io/v1", rv: 5, start: "../../x" })}`,
      "token of a future version": `continue=${token({ v: "meta.k8s.io/v1", rv: 99_999_999, start: "x\u0000" })}`,
      "inconsistent token": `limit=1&continue=${token({ v: "meta.k8s.io/v1", rv: -1, start: "a\u0000" })}`,
      "negative limit": "limit=-1",
      "limit that is no number": "limit=abc",
      "limit of what is not printed": "limit=%7F%E2%80%A8",
      "large limit": "limit=99999999999999999999",
      "version of what is not printed": "resourceVersion=%7F%E2%80%A8",
      "negative version": "resourceVersion=-1",
      pretty: "pretty=true",
      "unknown parameters": "foo=bar&baz=1",
      "timeout zero": "timeout=0",
      "timeout malformed": "timeout=abc",
      "timeout without unit": "timeout=5",
      "timeout negative": "timeout=-5s",
      "timeout of a minute": "timeout=1m",
      "timeoutSeconds malformed": "timeoutSeconds=x",
      "watch no boolean": "watch=maybe&timeoutSeconds=1",
      "watch zero": "watch=0",
      "watch false": "watch=false",
      export: "export=true",
      "two limits": "limit=1&limit=2",
    },
    "options: %",
    async (lab, query) => {
      await lab.create(lab.core("secrets"), secret("a"));
      await lab.create(lab.core("secrets"), secret("b"));
      await lab.get(`${lab.core("secrets")}?${query}`);
    },
  ),
  "export of one object": async (lab) => {
    await lab.create(lab.core("secrets"), secret("a"));
    await lab.get(`${lab.core("secrets", "a")}?export=true`);
    await lab.get(`${lab.core("secrets", "a")}?export=false`);
    await lab.get(`${lab.core("secrets", "a")}?exact=true`);
  },
};

function token(content: unknown): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

const selectors: Record<string, Script> = {
  ...casesFor(
    Object.fromEntries(
      [
        "app=x",
        "app==x",
        "app!=x",
        "app",
        "!app",
        "app in (x,y)",
        "app notin (x)",
        "app in (x",
        "app=x,tier=a",
        "tier notin (a,b),!tmp,app",
        "app in ()",
        "app=",
        "app!=",
        "n>1",
        "n<3",
        "n>abc",
        "=x",
        "app=x,",
        ",",
        "app x",
        "app===x",
        "app=x y",
        "example.com/a=1",
        "-bad=1",
        "app=-bad",
        "app in (x,,y)",
        "a/b/c=1",
        "app=ü",
        "!app=x",
        "app>",
        " app = x ",
        "x in (" + "v".repeat(64) + ")",
      ].map((selector) => [selector, selector]),
    ),
    "labels %",
    async (lab, selector) => {
      const labels = [
        { app: "x", tier: "a", n: "2" },
        { app: "y", n: "3" },
        { tier: "c" },
        { app: "", tmp: "1", "example.com/a": "1" },
        {},
      ];
      for (const [index, one] of labels.entries())
        await lab.create(lab.core("secrets"), secret(`s-${index}`, { labels: one }));
      const { body } = await lab.statusOf({
        path: `${lab.core("secrets")}?labelSelector=${encodeURIComponent(selector)}`,
      });
      const { items, message, reason } = body as {
        items?: { metadata: { name: string } }[];
        message?: string;
        reason?: string;
      };
      lab.note(
        "found",
        items?.map(({ metadata }) => metadata.name) ?? [message ?? "", reason ?? ""],
      );
    },
  ),
  ...casesFor(
    Object.fromEntries(
      [
        "metadata.name=a",
        "metadata.name!=a",
        "metadata.name==a",
        "metadata.name=a,metadata.name=b",
        "metadata.name=a,metadata.namespace=nowhere",
        "metadata.namespace!=x",
        "type=Opaque",
        "type!=Opaque",
        "data.a=1",
        "metadata.labels=x",
        "metadata.name",
        "metadata.name in (a)",
        "metadata.name=a\\,b",
        "=a",
        "metadata.uid=x",
        "spec.x=1",
        "=",
        "!=,metadata.name=a,==",
        'a\u007f\u2028"=1',
        ",",
        "metadata.name=",
      ].map((selector) => [selector, selector]),
    ),
    "fields %",
    async (lab, selector) => {
      await lab.create(lab.core("secrets"), secret("a"));
      await lab.create(lab.core("secrets"), secret("b", {}, { type: "example.com/other" }));
      await lab.get(`${lab.core("secrets")}?fieldSelector=${encodeURIComponent(selector)}`);
    },
  ),
  "fields of pods": async (lab) => {
    await lab.create(lab.core("pods"), pod("a"));
    await lab.create(lab.core("pods"), pod("b", { nodeName: "n1", restartPolicy: "Never" }));
    for (const selector of [
      "spec.nodeName=n1",
      "spec.nodeName=",
      "status.phase=Pending",
      "spec.restartPolicy!=Always",
      "spec.schedulerName=default-scheduler",
      "spec.serviceAccountName=default",
      "spec.hostNetwork=false",
      "status.podIP=",
      "status.nominatedNodeName=",
      "spec.unknown=1",
    ]) {
      await lab.get(`${lab.core("pods")}?fieldSelector=${encodeURIComponent(selector)}`);
    }
  },
  "fields of other kinds": async (lab) => {
    const places: readonly [string, string][] = [
      [lab.core("configmaps"), "metadata.name=a"],
      [lab.core("configmaps"), "data.a=1"],
      [lab.core("configmaps"), 'a\u007f\u2028"=1'],
      [lab.core("events"), "involvedObject.kind=Pod,reason=R"],
      [lab.core("events"), "type=Normal,source=x"],
      ["/api/v1/namespaces", `status.phase=Active,metadata.name=${lab.ns}`],
      ["/api/v1/nodes", "spec.unschedulable=false,metadata.name=none"],
      [lab.core("replicationcontrollers"), "status.replicas=1"],
      [lab.group("apps/v1", "replicasets"), "status.replicas=1"],
      [lab.group("apps/v1", "deployments"), "status.replicas=1"],
      [lab.group("batch/v1", "jobs"), "status.successful=1"],
      [lab.group("batch/v1", "jobs"), 'a\u007f\u2028"=1'],
      [lab.group("batch/v1", "cronjobs"), "spec.schedule=x"],
      ["/apis/certificates.k8s.io/v1/certificatesigningrequests", "spec.signerName=example.com/x"],
      [lab.core("services"), "spec.type=ClusterIP,spec.clusterIP=None"],
      ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "spec.group=nothing.example.com"],
      [lab.group("events.k8s.io/v1", "events"), "regarding.kind=Pod"],
      [lab.group("events.k8s.io/v1", "events"), "involvedObject.kind=Pod"],
    ];
    for (const [path, selector] of places)
      await lab.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
  },
  "both at once": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a", {}, { labels: { app: "x" } }));
    await lab.create(lab.core("configmaps"), configMap("b", {}, { labels: { app: "x" } }));
    await lab.get(
      `${lab.core("configmaps")}?labelSelector=app%3Dx&fieldSelector=metadata.name%3Db`,
    );
  },
  "every namespace at once": async (lab) => {
    await lab.create(
      lab.group("apps/v1", "deployments"),
      deployment("d", {}, { labels: { only: lab.id } }),
    );
    await lab.get(`/apis/apps/v1/deployments?labelSelector=only%3D${lab.id}`);
    await lab.get(
      `/apis/apps/v1/deployments?labelSelector=only%3D${lab.id}&fieldSelector=metadata.namespace%3D${lab.ns}`,
    );
    await lab.get(
      `/apis/apps/v1/deployments?labelSelector=only%3D${lab.id}&fieldSelector=metadata.namespace%3Delsewhere`,
    );
  },
};

export const listCases = [...casesOf("lists", lists), ...casesOf("selectors", selectors)];
