// A real Keycloak for the tests of one process, and an administrator that is not the operator's.

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { KeycloakAccess } from "@keelson/platform";
import { Guard } from "../tools/guarded.ts";
import { findFreePorts } from "../tools/ports.ts";
import { until } from "../tools/until.ts";
import { findKeycloak, javaArguments } from "./keycloak-program.ts";

const found = findKeycloak();
/** `http://127.0.0.1:PORT` of one that somebody started by `launchKeycloak` and keeps: a start takes a minute. */
const running = process.env["KEELSON_TEST_KEYCLOAK"];

/** Why tests on Keycloak are skipped; false where they run. */
export const withoutKeycloak: string | false =
  running === undefined && "missing" in found ? found.missing : false;

/** Of a start, on a machine that is busy. */
const startMsMax = 240_000;

const administrator = { user: "admin", password: "p@ss/w#%rd" } as const;

export interface KeycloakServer {
  readonly url: string;
  readonly port: number;
  /** As the operator is told it. */
  readonly access: () => Promise<KeycloakAccess>;
  /** Asks below `/admin/realms`. Undefined for what is not there; throws at every other refusal. */
  readonly ask: <Answer = unknown>(
    method: string,
    path: string,
    body?: object,
  ) => Promise<Answer | undefined>;
}

let shared: Promise<KeycloakServer> | undefined;

/** Started by the first test that asks, gone with the process. Realms keep tests apart. */
export function sharedKeycloak(): Promise<KeycloakServer> {
  shared ??= startedAt(running);
  return shared;
}

export interface LaunchedKeycloak {
  readonly url: string;
  /** What it said last, if it has ended. */
  readonly lastWords: () => string | undefined;
}

/** Resolves long before it answers; undefined where there is none. It ends with this process. */
export async function launchKeycloak(): Promise<LaunchedKeycloak | undefined> {
  if ("missing" in found) return undefined;
  const guard = new Guard();
  const home = ownHome(found.home, guard.folder);
  const [port = 0] = await findFreePorts(1);
  const variables = [
    `KC_BOOTSTRAP_ADMIN_USERNAME=${administrator.user}`,
    `KC_BOOTSTRAP_ADMIN_PASSWORD=${administrator.password}`,
  ];
  const options = ["--optimized", "--http-enabled=true", "--http-host=127.0.0.1"];
  options.push(`--http-port=${port}`, "--hostname-strict=false", "--cache=local");
  const server = await guard.start({
    name: "keycloak",
    path: "env",
    arguments: [...variables, "java", ...javaArguments(home), "start", ...options],
  });
  return {
    url: `http://127.0.0.1:${port}`,
    lastWords: () => (server.hasEnded ? server.logTail() : undefined),
  };
}

async function startedAt(given: string | undefined): Promise<KeycloakServer> {
  const launched = given === undefined ? await launchKeycloak() : undefined;
  const url = given ?? launched?.url;
  if (url === undefined) throw new Error(String(withoutKeycloak));
  await until(async () => {
    const words = launched?.lastWords();
    if (words !== undefined) throw new Error(`Keycloak ended:\n${words}`);
    const answer = await fetch(`${url}/realms/master`).catch(() => undefined);
    return answer?.ok === true;
  }, AbortSignal.timeout(startMsMax));
  return keycloakAt(url);
}

function keycloakAt(url: string): KeycloakServer {
  const access = { url, ...administrator };
  const port = Number(new URL(url).port);
  return { url, port, access: () => Promise.resolve(access), ask: asking(access) };
}

/** The distribution with a folder of its own for what a server writes. */
function ownHome(home: string, folder: string): string {
  const own = join(folder, "home");
  mkdirSync(join(own, "data"), { recursive: true });
  for (const name of ["bin", "conf", "lib", "providers", "themes"]) {
    symlinkSync(join(home, name), join(own, name));
  }
  return own;
}

function asking({ url, user, password }: KeycloakAccess): KeycloakServer["ask"] {
  const logIn = async (): Promise<string> => {
    const answer = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "password",
        client_id: "admin-cli",
        username: user,
        password,
      }),
    });
    const { access_token: token } = (await answer.json()) as { access_token?: string };
    if (token === undefined) throw new Error(`the administrator cannot log in: ${answer.status}`);
    return token;
  };
  let token: string | undefined;
  return async <Answer>(method: string, path: string, body?: object) => {
    const send = async (): Promise<Response> =>
      fetch(`${url}/admin/realms${path}`, {
        method,
        headers: {
          authorization: `Bearer ${(token ??= await logIn())}`,
          "content-type": "application/json",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    let answer = await send();
    if (answer.status === 401) {
      token = undefined;
      answer = await send();
    }
    const text = await answer.text();
    if (answer.status === 404) return undefined;
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === "" ? undefined : (JSON.parse(text) as Answer);
  };
}
