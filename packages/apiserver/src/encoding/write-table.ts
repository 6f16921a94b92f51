// Objects as the Table that kubectl prints (KB 56).

import type { JsonObject } from "@keelson/base";
import { renderTable } from "@keelson/kube";

import type { Resource } from "../resources/resource.ts";
import type { AnswerFormat } from "./answer-format.ts";

export function tableOf(
  { columns, row }: Resource,
  {
    objects,
    metadata,
    hasHeaders = true,
  }: {
    readonly objects: readonly JsonObject[];
    readonly metadata: JsonObject;
    readonly hasHeaders?: boolean;
  },
  { includeObject, metaVersion }: AnswerFormat,
  nowMs: number,
): JsonObject {
  return renderTable({
    columns,
    rows: objects.map((object) => row(object, nowMs)),
    metadata,
    includeObject,
    hasHeaders,
    version: metaVersion,
  });
}
