// The path of topics, which is fleet's: where it is not there, somebody else has to answer it.

import type { clustersRoutes } from "@keelson/clusters";
import type { RouteModule } from "@keelson/keelson";

export function topicsModule({
  topicEvents: { answer, onRefused },
}: Pick<ReturnType<typeof clustersRoutes>, "topicEvents">): RouteModule {
  const doc = { summary: "follow a topic", success: { status: 200 } };
  return {
    name: "topics",
    prefix: "/api/v1",
    bodyBytesMax: 1_024,
    routes: () => (app, _options, done) => {
      app.get("/events", { exposeHeadRoute: false, config: { doc, onRefused } }, answer);
      done();
    },
  };
}
