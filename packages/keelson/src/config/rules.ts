// What no single value can say: which settings need, exclude or bound each other.

import { isEmail } from "../email.ts";
import { isLoopbackHost } from "../loopback.ts";
import type { Problem } from "./given.ts";
import type { Sources } from "./resolve.ts";
import { flagOf, variableOf } from "./setting.ts";
import type { SettingKey, Values } from "./settings.ts";

/** The ways of starting that have rules of their own. */
export type Purpose = "up" | "serve" | "apiserver" | "show";

export interface Situation {
  readonly values: Values;
  readonly sources: Sources;
  readonly purpose: Purpose;
}

/**
 * Every rule that the settings break together. A rule that looks at one of the `unread` settings says nothing:
 * what stands there now is not what the user meant.
 */
export function brokenRules(
  { values, sources, purpose }: Situation,
  unread: ReadonlySet<SettingKey>,
): readonly Problem[] {
  return rules.flatMap((rule) => {
    let isSure = true;
    const watched = new Proxy(values, {
      get: (target, key) => {
        if (unread.has(key as SettingKey)) isSure = false;
        return target[key as SettingKey];
      },
    });
    const problems = rule({ values: watched, sources, purpose });
    return isSure ? problems : [];
  });
}

type Rule = (situation: Situation) => readonly Problem[];

const rules: readonly Rule[] = [
  function authenticationBeyondLoopback({ values, sources }) {
    const { address, authMode } = values;
    if (authMode !== "none" || isLoopbackHost(address)) return [];
    return [
      {
        field: nameOf("address", sources),
        message: `${address} can be reached from other machines, and callers are not authenticated`,
        fix: `set ${variableOf("authMode")} to token, gateway or oidc, or bind to 127.0.0.1`,
      },
    ];
  },
  function credentialsOfTheMode({ values, sources }) {
    const { authMode } = values;
    const missing = (needed: readonly SettingKey[], what: string): Problem[] => [
      {
        field: nameOf("authMode", sources),
        message: `${authMode} needs ${what}`,
        fix: `set ${needed.map(variableOf).join(" or ")}`,
      },
    ];
    switch (authMode) {
      case "none":
        return [];
      case "token":
        return values.tokensFile === undefined ? missing(["tokensFile"], "a tokens file") : [];
      case "gateway": {
        const needed = ["authGatewaySecret", "authGatewayClientCa"] as const;
        const hasOne = needed.some((key) => values[key] !== undefined);
        return hasOne ? [] : missing(needed, "a way to recognise the gateway");
      }
      case "oidc":
        return (["oidcIssuer", "oidcAudience"] as const)
          .filter((key) => values[key] === undefined)
          .flatMap((key) => missing([key], key === "oidcIssuer" ? "an issuer" : "an audience"));
    }
  },
  function noCredentialsOfAnotherMode({ values, sources }) {
    const { authMode } = values;
    return (Object.keys(modeOf) as (keyof typeof modeOf)[])
      .filter((key) => values[key] !== undefined && modeOf[key] !== authMode)
      .map((key) => ({
        field: nameOf(key, sources),
        message: `is of no use while ${nameOf("authMode", sources)} is ${authMode}`,
        fix: `set ${variableOf("authMode")}=${modeOf[key]}, or leave it out`,
      }));
  },
  function certificateWithKey({ values, sources }) {
    return (
      [
        ["tlsCertFile", "tlsKeyFile"],
        ["tlsKeyFile", "tlsCertFile"],
      ] as const
    )
      .filter(([key, other]) => values[key] !== undefined && values[other] === undefined)
      .map(([key, other]) => ({
        field: nameOf(key, sources),
        message: `needs ${variableOf(other)} beside it`,
      }));
  },
  function clientCertificatesOverTls({ values, sources }) {
    const { authGatewayClientCa, tlsCertFile, tlsKeyFile } = values;
    if (authGatewayClientCa === undefined || (tlsCertFile ?? tlsKeyFile) !== undefined) return [];
    return [
      {
        field: nameOf("authGatewayClientCa", sources),
        message: "cannot be checked without TLS",
        fix: `set ${variableOf("tlsCertFile")} and ${variableOf("tlsKeyFile")}`,
      },
    ];
  },
  function differentPorts({ values, sources }) {
    const { port, metricsPort, metricsEnabled } = values;
    if (port === 0 || port !== metricsPort || !metricsEnabled) return [];
    return [
      {
        field: nameOf("metricsPort", sources),
        message: `is ${metricsPort}, which ${nameOf("port", sources)} has already`,
      },
    ];
  },
  function whatReplicasShare({ values, purpose }) {
    if (purpose !== "serve") return [];
    const { roles = [] } = values;
    const isOperatorAlone = roles.length > 0 && roles.every((role) => role === "operator");
    const needs: readonly (readonly [SettingKey, string])[] = [
      ["roles", "is needed by serve: --roles rest,worker,scheduler,operator or some of them"],
      // The operator keeps what it knows in its cluster.
      ...(isOperatorAlone
        ? []
        : ([
            ["databaseUrl", "is needed by serve: replicas share one PostgreSQL"],
            ["encryptionKey", "is needed by serve: replicas share stored credentials"],
          ] as const)),
      ...(roles.includes("operator")
        ? ([["baseDomain", "is needed by the operator: apps get their hosts below it"]] as const)
        : []),
    ];
    return needs
      .filter(([key]) => values[key] === undefined)
      .map(([key, message]) => ({ field: variableOf(key), message }));
  },
  function rolesOnlyChosenByServe({ values, sources, purpose }) {
    if ((purpose !== "up" && purpose !== "apiserver") || values.roles === undefined) return [];
    const field = nameOf("roles", sources);
    return [{ field, message: "is for keelson serve; keelson up runs every part" }];
  },
  function oneClusterByServe({ values, sources, purpose }) {
    const { clusterId, roles } = values;
    if (clusterId === undefined || purpose === "show") return [];
    const field = nameOf("clusterId", sources);
    if (purpose !== "serve") {
      return [{ field, message: "is for keelson serve --roles worker, inside that cluster" }];
    }
    if (roles === undefined || roles.includes("worker")) return [];
    return [{ field, message: "is for the worker, which is not among the roles" }];
  },
  function aggregatedAlone({ values, sources, purpose }) {
    if (!values.aggregated || (purpose !== "up" && purpose !== "serve")) return [];
    return [
      {
        field: nameOf("aggregated", sources),
        message: "is for keelson apiserver: everything else needs a cluster of its own",
      },
    ];
  },
  function whatTheHostDecides({ values, sources }) {
    if (!values.aggregated) return [];
    const given = (["tokenAuthFile", "simulateWorkloads"] as const).filter(
      (key) => sources[key].origin !== "default",
    );
    return given.map((key) => ({
      field: nameOf(key, sources),
      message: `is of no use with ${nameOf("aggregated", sources)}: the host cluster ${
        key === "tokenAuthFile" ? "judges tokens" : "runs the workloads"
      }`,
      fix: "leave it out",
    }));
  },
  function storageOfTheDriver({ values, sources }) {
    if (values.storageDriver === "postgresql") return [];
    return (
      ["postgresHost", "postgresServerRole", "postgresPassword", "postgresPasswordFile"] as const
    )
      .filter((key) => values[key] !== undefined)
      .map((key) => ({
        field: nameOf(key, sources),
        message: `is of no use while ${nameOf("storageDriver", sources)} is sqlite`,
        fix: `set ${variableOf("storageDriver")}=postgresql, or leave it out`,
      }));
  },
  function onePassword({ values, sources }) {
    if (values.postgresPassword === undefined || values.postgresPasswordFile === undefined)
      return [];
    const field = nameOf("postgresPassword", sources);
    return [
      { field, message: `and ${nameOf("postgresPasswordFile", sources)} exclude each other` },
    ];
  },
  function administratorOfKeycloak({ values, sources }) {
    const keys = ["keycloakAdminUrl", "keycloakAdminUser", "keycloakAdminPassword"] as const;
    const given = keys.find((key) => values[key] !== undefined);
    const missing = keys.filter((key) => values[key] === undefined);
    if (given === undefined || missing.length === 0) return [];
    const names = missing.map((key) => variableOf(key)).join(" and ");
    return [{ field: nameOf(given, sources), message: `needs ${names} beside it` }];
  },
  function operatorsDomain({ values, sources }) {
    const { baseDomain } = values;
    if (baseDomain === undefined || baseDomain.length <= 200) return [];
    return [
      {
        field: nameOf("baseDomain", sources),
        message: "leaves no room for the names of apps before it: it may have 200 characters",
      },
    ];
  },
  function controllerIsAnAddress({ values, sources }) {
    const emails = [
      ["controllerEmail", values.controllerEmail],
      ...Object.keys(values.controllerIdentities ?? {}).map(
        (email) => ["controllerIdentities", email] as const,
      ),
    ] as const;
    return emails
      .filter(([, email]) => !isEmail(email))
      .map(([key, email]) => ({
        field: nameOf(key as SettingKey, sources),
        message: `${JSON.stringify(email)} is no e-mail address`,
      }));
  },
  function projectOfPubsub({ values, sources }) {
    if (values.eventTransport !== "pubsub" || values.googleCloudProject !== undefined) return [];
    return [
      {
        field: nameOf("eventTransport", sources),
        message: "pubsub needs a project",
        fix: `set ${variableOf("googleCloudProject")}`,
      },
    ];
  },
  function smallerThan({ values, sources }) {
    const orders = [
      ["fleetBackoffMin", "fleetBackoffMax", false],
      ["fleetCallTimeout", "fleetLease", true],
      ["bodyLimit", "batchBodyLimit", false],
    ] as const;
    return orders
      .filter(([low, high, isStrict]) =>
        isStrict ? values[low] >= values[high] : values[low] > values[high],
      )
      .map(([low, high, isStrict]) => ({
        field: nameOf(low, sources),
        message: `must ${isStrict ? "be less than" : "not exceed"} ${nameOf(high, sources)}`,
      }));
  },
];

/** The credentials, and the only mode in which each means something. */
const modeOf = {
  tokensFile: "token",
  authGatewaySecret: "gateway",
  authGatewayClientCa: "gateway",
  oidcIssuer: "oidc",
  oidcAudience: "oidc",
} as const satisfies Partial<Record<SettingKey, Values["authMode"]>>;

/** The name by which the user gave it; the canonical variable where nobody did. */
function nameOf(key: SettingKey, sources: Sources): string {
  const { origin, name } = sources[key];
  return origin === "default" ? `${variableOf(key)} (--${flagOf(key)})` : name;
}
