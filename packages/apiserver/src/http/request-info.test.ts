import assert from "node:assert/strict";
import { suite, test } from "node:test";

import { requestInfo } from "./request-info.ts";

/** A request, and in short what it is about: verb, address, name. */
const cases: readonly (readonly [string, string])[] = [
  ["GET /api/v1/pods", "list v1 pods"],
  ["GET /api/v1/pods?watch=1", "watch v1 pods"],
  ["GET /api/v1/pods?watch=0", "list v1 pods"],
  ["GET /api/v1/pods?watch=false", "list v1 pods"],
  ["GET /api/v1/pods?watch", "watch v1 pods"],
  ["GET /api/v1/namespaces/a/pods/b", "get v1 a pods b"],
  // KB 11: a named GET is no watch, whatever it says.
  ["GET /api/v1/namespaces/a/pods/b?watch=1", "get v1 a pods b"],
  ["GET /api/v1/watch/namespaces/a/pods", "watch v1 a pods"],
  ["GET /api/v1/watch/namespaces/a/pods/b", "watch v1 a pods b"],
  ["GET /api/v1/watch/pods", "watch v1 pods"],
  ["GET /api/v1/namespaces", "list v1 namespaces"],
  ["GET /api/v1/namespaces/a", "get v1 a namespaces a"],
  ["PUT /api/v1/namespaces/a/status", "update v1 a namespaces a/status"],
  ["PUT /api/v1/namespaces/a/finalize", "update v1 a namespaces a/finalize"],
  ["GET /api/v1/namespaces/a/statuses", "list v1 a statuses"],
  ["POST /api/v1/namespaces/a/pods", "create v1 a pods"],
  ["POST /api/v1/namespaces/a/pods/b/eviction", "create v1 a pods b/eviction"],
  ["PATCH /apis/apps/v1/namespaces/a/deployments/b/scale", "patch apps/v1 a deployments b/scale"],
  ["DELETE /apis/apps/v1/namespaces/a/deployments/b", "delete apps/v1 a deployments b"],
  ["DELETE /apis/apps/v1/namespaces/a/deployments", "deletecollection apps/v1 a deployments"],
  ["GET /api/v1/pods?fieldSelector=metadata.name%3Dx", "list v1 pods x"],
  ["GET /api/v1/pods?fieldSelector=metadata.name%21%3Dx", "list v1 pods"],
  ["GET /api/v1/pods?fieldSelector=%2C%2C%3D", "list v1 pods"],
  ["GET /apis/a%2Fb/v1/x/y%3Az", "get a/b/v1 x y:z"],
  ["GET /api/v1/pods/%zz", "get v1 pods %zz"],
  ["GET //api//v1//pods//", "list v1 pods"],
  ["FROB /api/v1/pods", " v1 pods"],
  ["GET /", "path get /"],
  ["GET /api", "path get /api"],
  ["GET /api/v1", "path get /api/v1"],
  ["GET /apis/apps", "path get /apis/apps"],
  ["GET /apis/apps/v1", "path get /apis/apps/v1"],
  ["GET /apis/apps/v1/", "path get /apis/apps/v1/"],
  ["POST /version", "path post /version"],
  ["GET /__proto__/x", "path get /__proto__/x"],
];

suite("what a request is about", () => {
  for (const [request, expected] of cases) {
    test(request, () => {
      const [method = "", url = ""] = request.split(" ");
      const [path = "", query = ""] = url.split("?");
      const info = requestInfo(method, path, new URLSearchParams(query));
      if (!info.isResource) {
        assert.equal(`path ${info.verb} ${info.path}`, expected);
        return;
      }
      const version = info.group === "" ? info.version : `${info.group}/${info.version}`;
      const name = info.subresource === "" ? info.name : `${info.name}/${info.subresource}`;
      const parts = [version, info.namespace, info.resource, name].filter((part) => part !== "");
      assert.equal(`${info.verb} ${parts.join(" ")}`, expected);
    });
  }
});
