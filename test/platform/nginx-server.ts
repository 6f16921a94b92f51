// A real nginx before an app, configured from its Ingresses as the ingress controller of nginx does it.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { DynamicObject } from "@keelson/client";
import { Guard } from "../tools/guarded.ts";
import { until } from "../tools/until.ts";
import { findNginx } from "./nginx-program.ts";

const found = findNginx();

/** Why tests on nginx are skipped; false where they run. */
export const withoutNginx: string | false = "missing" in found ? found.missing : false;

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export interface Nginx extends AsyncDisposable {
  ask(
    address: { readonly host: string; readonly path: string },
    body?: string | Buffer,
  ): Promise<Answer>;
}

interface Path {
  readonly path: string;
  readonly pathType: string;
  readonly backend: { readonly service: { readonly port: { readonly number: number } } };
}

const annotationPrefix = "nginx.ingress.kubernetes.io";

/** `ports`: where each port of the app's Service leads. */
export async function startNginx(
  ingresses: readonly DynamicObject[],
  ports: Readonly<Record<number, number>>,
  signal: AbortSignal,
): Promise<Nginx> {
  if ("missing" in found) throw new Error(found.missing);
  await using undo = new AsyncDisposableStack();
  const guard = undo.use(new Guard());
  const socket = join(guard.folder, "nginx.sock");
  const file = join(guard.folder, "nginx.conf");
  writeFileSync(file, configuration(guard.folder, { socket, ingresses, ports }));
  const server = await guard.start({
    name: "nginx",
    path: found.program,
    arguments: ["-p", guard.folder, "-c", file, "-e", "stderr"],
  });
  const nginx: Nginx = {
    ask: (address, body) => ask(socket, address, body),
    [Symbol.asyncDispose]: () => guard[Symbol.asyncDispose](),
  };
  await until(async () => {
    if (server.hasEnded) throw new Error(`nginx ended:\n${server.logTail()}`);
    return await nginx.ask({ host: "nobody", path: "/" }).catch(() => undefined);
  }, signal);
  undo.move();
  return nginx;
}

function configuration(
  folder: string,
  {
    socket,
    ingresses,
    ports,
  }: {
    readonly socket: string;
    readonly ingresses: readonly DynamicObject[];
    readonly ports: Readonly<Record<number, number>>;
  },
): string {
  const locations = ingresses.flatMap(({ metadata: { annotations = {} }, spec }) => {
    const { rules } = spec as unknown as { rules: { host: string; http: { paths: Path[] } }[] };
    return rules.flatMap(({ host, http }) =>
      http.paths.map((path) => ({
        host,
        path,
        rewrite: annotations[`${annotationPrefix}/rewrite-target`],
        bodyMax: annotations[`${annotationPrefix}/proxy-body-size`] ?? "1m",
      })),
    );
  });
  const servers = [...new Set(locations.map(({ host }) => host))].map((host) => {
    const own = locations.filter((location) => location.host === host);
    // One rewrite makes patterns of all paths of a host, in whichever Ingress they are; the longest come first.
    const isPattern = own.some(({ rewrite }) => rewrite !== undefined);
    const blocks = own
      .toSorted((one, other) => other.path.path.length - one.path.path.length)
      .map(({ path: { path, backend }, rewrite, bodyMax }) => {
        const match = isPattern ? `~* "^${path}"` : path;
        const rewriting = rewrite === undefined ? "" : `rewrite "(?i)${path}" ${rewrite} break;`;
        const target = `http://127.0.0.1:${ports[backend.service.port.number]}`;
        return `location ${match} { client_max_body_size ${bodyMax}; ${rewriting} proxy_pass ${target}; }`;
      });
    return `server { listen unix:${socket}; server_name ${host}; ${blocks.join("\n")} }`;
  });
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  // One process: whoever ends it leaves no workers behind.
  return `daemon off;
master_process off;
pid ${join(folder, "nginx.pid")};
events {}
http {
access_log off;
proxy_set_header Host $host;
${temporary.join("\n")}
server { listen unix:${socket} default_server; return 404; }
${servers.join("\n")}
}
`;
}

async function ask(
  socketPath: string,
  { host, path }: { readonly host: string; readonly path: string },
  body: string | Buffer = "",
): Promise<Answer> {
  const isGet = body.length === 0;
  // A body is sent when it is asked for: a server that does not want it closes the connection on whoever goes on sending.
  const expecting = { expect: "100-continue", "content-length": Buffer.byteLength(body) };
  const headers = { host, ...(isGet ? {} : expecting) };
  const sent = request({ socketPath, path, method: isGet ? "GET" : "POST", headers });
  if (isGet) sent.end();
  else sent.once("continue", () => sent.end(body)).flushHeaders();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  if (!sent.writableEnded) sent.destroy();
  return { status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString() };
}
