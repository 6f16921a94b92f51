import {
  addHealthRoutes,
  addInfoRoute,
  type BuildFacts,
  type HealthRoutesOptions,
} from "./health-routes.ts";
import type { RouteModule } from "./route-module.ts";

/** The routes that are there whatever parts run: health and version. */
export function ownRoutes(
  options: HealthRoutesOptions & { readonly facts: BuildFacts },
): RouteModule {
  return {
    name: "keelson",
    prefix: "",
    bodyBytesMax: 1_024,
    routes: () => (app, _options, done) => {
      addHealthRoutes(app, options);
      addInfoRoute(app, options.facts);
      done();
    },
  };
}
