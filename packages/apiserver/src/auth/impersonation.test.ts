import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { StatusError } from "@keelson/kube";

import type { Attributes, Authorizer } from "./authorizer.ts";
import { Impersonation } from "./impersonation.ts";
import type { User } from "./user.ts";

const listPods: Attributes = {
  isResource: true,
  verb: "list",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "shop",
  name: "",
};
const ann: User = { name: "ann", uid: "", groups: [], extra: {} };

/** Allows what is listed, as `verb resource/subresource name namespace`. */
function allowing(...allowed: string[]): Authorizer {
  return {
    authorize(_, attributes) {
      const { verb } = attributes;
      const what = attributes.isResource
        ? `${attributes.group}/${attributes.resource}${attributes.subresource === "" ? "" : `/${attributes.subresource}`} ${attributes.name} ${attributes.namespace}`.trim()
        : attributes.path;
      return { isAllowed: allowed.includes(`${verb} ${what}`), reason: "" };
    },
  };
}

async function ask(
  impersonation: Impersonation,
  headers: Record<string, string | readonly string[]>,
  user = ann,
): Promise<unknown> {
  try {
    const signal = new AbortController().signal;
    return await impersonation.impersonate({ user, headers, attributes: listPods }, signal);
  } catch (error) {
    if (error instanceof StatusError) return `${error.status.code} ${error.message}`;
    throw error;
  }
}

suite("impersonation", () => {
  test("without headers nothing is asked", async () => {
    assert.equal(await ask(new Impersonation(allowing()), { accept: "*/*" }), undefined);
  });

  test("parts of nobody are a bad request", async () => {
    assert.equal(
      await ask(new Impersonation(allowing()), {
        "impersonate-group": ["a", "b"],
        "impersonate-extra-some%2fkey": "v",
      }),
      '400 requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string{"some/key":[]string{"v"}}} without impersonating a user name',
    );
  });

  test("every part is asked for with the plain verb", async () => {
    const headers = {
      "impersonate-user": "bob",
      "impersonate-uid": "7",
      "impersonate-group": ["a", "b"],
      "impersonate-extra-key": ["v", "w"],
    };
    const rights = [
      "impersonate /users bob",
      "impersonate authentication.k8s.io/uids 7",
      "impersonate /groups a",
      "impersonate /groups b",
      "impersonate authentication.k8s.io/userextras/key v",
      "impersonate authentication.k8s.io/userextras/key w",
    ];
    assert.deepEqual(await ask(new Impersonation(allowing(...rights)), headers), {
      user: {
        name: "bob",
        uid: "7",
        groups: ["a", "b", "system:authenticated"],
        extra: { key: ["v", "w"] },
      },
      constraint: "",
    });
    for (const missing of rights) {
      const others = rights.filter((right) => right !== missing);
      assert.equal(
        await ask(new Impersonation(allowing(...others)), headers),
        '403 pods is forbidden: User "ann" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "shop"',
      );
    }
  });

  test("a ServiceAccount comes with its groups, unless others are named", async () => {
    const name = "system:serviceaccount:shop:bot";
    const rights = ["impersonate /serviceaccounts bot shop", "impersonate /groups g"];
    const impersonation = new Impersonation(allowing(...rights));
    const groupsOf = async (headers: Record<string, string>): Promise<unknown> =>
      ((await ask(impersonation, { "impersonate-user": name, ...headers })) as { user: User }).user
        .groups;
    assert.deepEqual(await groupsOf({}), [
      "system:serviceaccounts",
      "system:serviceaccounts:shop",
      "system:authenticated",
    ]);
    assert.deepEqual(await groupsOf({ "impersonate-group": "g" }), ["g", "system:authenticated"]);
  });

  test("nobody in particular is not authenticated", async () => {
    const rights = [
      "impersonate /users system:anonymous",
      "impersonate /users bob",
      "impersonate /groups system:unauthenticated",
    ];
    const impersonation = new Impersonation(allowing(...rights));
    const groupsOf = async (headers: Record<string, string>): Promise<unknown> =>
      ((await ask(impersonation, headers)) as { user: User }).user.groups;
    const none = ["system:unauthenticated"];
    assert.deepEqual(await groupsOf({ "impersonate-user": "system:anonymous" }), none);
    assert.deepEqual(
      await groupsOf({ "impersonate-user": "bob", "impersonate-group": "system:unauthenticated" }),
      none,
    );
  });

  test("a constrained right needs the act and the user, and names itself", async () => {
    const headers = { "impersonate-user": "bob" };
    const on = "impersonate-on:user-info:list /pods  shop";
    const user = "impersonate:user-info authentication.k8s.io/users bob";
    assert.deepEqual(await ask(new Impersonation(allowing(on, user)), headers), {
      user: { name: "bob", uid: "", groups: ["system:authenticated"], extra: {} },
      constraint: "impersonate:user-info",
    });
    assert.equal(
      await ask(new Impersonation(allowing(on)), headers),
      '403 users.authentication.k8s.io "bob" is forbidden: User "ann" cannot impersonate:user-info resource "users" in API group "authentication.k8s.io" at the cluster scope',
    );
    const masters = { ...headers, "impersonate-group": "system:masters" };
    assert.match(
      String(await ask(new Impersonation(allowing(on, user)), masters)),
      /impersonating the system:masters group is not allowed$/,
    );
    const keys = { ...headers, "impersonate-extra-plain": "v" };
    assert.match(
      String(await ask(new Impersonation(allowing(on, user)), keys)),
      /impersonating an invalid key in extra is not allowed: extra\.key: Invalid value: "plain": must be a domain-prefixed path/,
    );
  });

  test("an agent may be its own node, and no other", async () => {
    const agent: User = {
      name: "system:serviceaccount:shop:agent",
      uid: "",
      groups: [],
      extra: { "authentication.kubernetes.io/node-name": ["n1"] },
    };
    const impersonation = new Impersonation(
      allowing(
        "impersonate-on:associated-node:list /pods  shop",
        "impersonate:associated-node authentication.k8s.io/nodes *",
      ),
    );
    assert.deepEqual(await ask(impersonation, { "impersonate-user": "system:node:n1" }, agent), {
      user: {
        name: "system:node:n1",
        uid: "",
        groups: ["system:nodes", "system:authenticated"],
        extra: {},
      },
      constraint: "impersonate:associated-node",
    });
    assert.match(
      String(await ask(impersonation, { "impersonate-user": "system:node:n2" }, agent)),
      /^403 pods is forbidden: .* cannot impersonate-on:arbitrary-node:list /,
    );
  });

  test("the mode that worked is tried first, and its refusal is told", async () => {
    const impersonation = new Impersonation(allowing("impersonate /users bob"));
    await ask(impersonation, { "impersonate-user": "bob" });
    assert.equal(
      await ask(impersonation, { "impersonate-user": "eve" }),
      '403 users "eve" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
  });
});
