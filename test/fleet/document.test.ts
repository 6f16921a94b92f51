// The document of fleet's API: it tells of every route. That it tells the truth is held against it by every test that asks.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { startFleetRest } from "./fleet-rest.ts";

interface Operation {
  readonly summary?: string;
  readonly requestBody?: object;
  readonly parameters?: readonly { readonly name: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

suite("the document of fleet's API", () => {
  test("each route says what it does, what it takes and what it answers", async () => {
    await using it = await startFleetRest();
    const { paths } = it.document.document() as unknown as {
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    const told = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([method, { summary, requestBody, parameters, responses }]) => {
          const what = `${method.toUpperCase()} ${path.replace("/api/v1", "")}`;
          assert.ok((summary ?? "") !== "", what);
          // 3.3: any write can be tried.
          const isTriable = (parameters ?? []).some(({ name }) => name === "dryRun");
          assert.equal(isTriable, method !== "get", what);
          const answers = Object.entries(responses).map(([status, { content }]) =>
            content === undefined ? `${status} without a body` : status,
          );
          return `${what}${requestBody === undefined ? "" : " body"}: ${answers.join(", ")}`;
        },
      ),
    );
    assert.deepEqual(told.toSorted(), [
      "DELETE /global-resources/{id}: 200, 202, default",
      "DELETE /resources/{id}: 200, 202, default",
      "DELETE /targets/{cluster_id}: 200, 202, 204 without a body, default",
      "GET /events: 200, default",
      "GET /global-resources/{id}/revisions: 200, default",
      "GET /global-resources/{id}: 200, default",
      "GET /global-resources: 200, default",
      "GET /resources/{id}/diff: 200, default",
      "GET /resources/{id}/revisions: 200, default",
      "GET /resources/{id}: 200, default",
      "GET /resources: 200, default",
      "GET /targets/{cluster_id}: 200, default",
      "GET /targets: 200, default",
      "POST /batch body: 200, default",
      "POST /global-resources body: 200, 201, default",
      "POST /resources body: 200, 201, default",
      "POST /resources/{id}/pause: 200, default",
      "POST /resources/{id}/resume: 200, default",
      "POST /resources/{id}/sync: 200, 202, default",
      "POST /targets body: 200, 201, default",
      "PUT /global-resources/{id} body: 200, default",
      "PUT /resources body: 200, 201, default",
      "PUT /resources/{id} body: 200, default",
      "PUT /targets/{cluster_id} body: 200, default",
    ]);
  });
});
