// What the stream of events tells of itself.

import { Type } from "typebox";
import { ClusterId, Id } from "../schema-parts.ts";

export const eventsDoc = {
  summary: "follow what happens, as server-sent events; with a topic, what controllers are told",
  query: {
    cluster_id: ClusterId,
    resource_id: Id,
    type: Type.String({ description: "resource.applied, target.created, global.deleted, …" }),
    topic: Type.String({ description: "cluster-events or nodepool-events, for controllers" }),
  },
  headers: {
    "Last-Event-ID": Type.String({
      description: "the last event that was had; without it from now on",
    }),
  },
  success: {
    status: 200,
    mediaType: "text/event-stream",
    body: Type.String({
      description:
        "id, event (the type) and data: JSON with identity, generation, revision, status, health, actor, change_set; never a spec",
    }),
  },
};
