// Tells a wrong method from an unknown path: the router itself only says that it found nothing.

import type { FastifyInstance } from "fastify";
import FindMyWay from "find-my-way";

/** Notes every route that is added to `app` from here on; the result names the methods that a path takes. */
export function methodsByPath(app: FastifyInstance): (url: string) => readonly string[] {
  const router = FindMyWay({ maxParamLength: 1_000 });
  const methods = new Set<string>();
  const known = new Set<string>();
  app.addHook("onRoute", ({ method, url }) => {
    for (const one of [method].flat()) {
      methods.add(one);
      if (known.has(`${one} ${url}`)) continue; // Routes that differ by a constraint share method and path.
      known.add(`${one} ${url}`);
      router.on(one as FindMyWay.HTTPMethod, url, () => undefined);
    }
  });
  return (url) => {
    const path = url.split("?", 1)[0] ?? "";
    return [...methods].filter(
      (method) => router.find(method as FindMyWay.HTTPMethod, path) !== null,
    );
  };
}
