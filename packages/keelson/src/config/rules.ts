// What no single value can say: which settings need, exclude or bound each other.

import { isEmail } from "../email.ts";
import { isLoopbackHost } from "../loopback.ts";
import type { Problem } from "./given.ts";
import type { Sources } from "./resolve.ts";
import { flagOf, variableOf, type Setting } from "./setting.ts";
import { settings, type SettingKey, type Values } from "./settings.ts";

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
  function authenticationBeyondLoopback({ values, sources, purpose }) {
    const { address, authMode } = values;
    if (authMode !== "none" || isLoopbackHost(address) || !mayServeRest(values, purpose)) return [];
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
  function differentPorts({ values, sources, purpose }) {
    const { port, metricsPort, metricsEnabled } = values;
    if (port === 0 || port !== metricsPort || !metricsEnabled) return [];
    if (!mayServeRest(values, purpose)) return [];
    return [
      {
        field: nameOf("metricsPort", sources),
        message: `is ${metricsPort}, which ${nameOf("port", sources)} has already`,
      },
    ];
  },
  function portOfTheKubernetesApi({ values, sources, purpose }) {
    if (purpose !== "up" && purpose !== "apiserver") return [];
    const { kubePort, kubeAddress } = values;
    const others = [
      ...(purpose === "up" ? ([["port", values.port, values.address]] as const) : []),
      ...(values.metricsEnabled
        ? ([["metricsPort", values.metricsPort, values.metricsAddress]] as const)
        : []),
    ];
    return others
      .filter(([, port, address]) => port !== 0 && port === kubePort && address === kubeAddress)
      .map(([other]) => ({
        field: nameOf("kubePort", sources),
        message: `is ${kubePort}, which ${nameOf(other, sources)} has already`,
      }));
  },
  function listenerOfTheApiserver({ sources, purpose }) {
    if (purpose !== "apiserver") return [];
    // Variables and files may be those of everything that runs; a flag is meant.
    return (
      [
        ["address", "kubeAddress"],
        ["port", "kubePort"],
      ] as const
    )
      .filter(([key]) => sources[key].origin === "flag")
      .map(([key, ours]) => ({
        field: nameOf(key, sources),
        message: "is of the REST API, which keelson apiserver does not serve",
        fix: `set ${nameOf(ours, sources)}`,
      }));
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
  function storageOfTheDriver(situation) {
    const { values, sources } = situation;
    const { storageDriver } = values;
    const other = storageDriver === "sqlite" ? "postgresql" : "sqlite";
    return settingsOf[other]
      .filter((key) => isSaid(key, situation))
      .map((key) => ({
        field: nameOf(key, sources),
        message: `is of no use while ${nameOf("storageDriver", sources)} is ${storageDriver}`,
        fix: `set ${variableOf("storageDriver")}=${other}, or leave it out`,
      }));
  },
  function hostOfTheStore(situation) {
    const { values, sources } = situation;
    if (values.storageDriver !== "postgresql" || values.postgresHost !== undefined) return [];
    const host = nameOf("postgresHost", sources);
    return settingsOf.postgresql
      .filter((key) => !isOfAnyPostgres(key) && isSaid(key, situation))
      .map((key) => ({
        field: nameOf(key, sources),
        message: `needs ${host} beside it`,
        fix: `set that, or leave it out where ${variableOf("databaseUrl")} says where the store is`,
      }));
  },
  function databaseOfTheApiserver({ values, sources, purpose }) {
    const { storageDriver, postgresHost, databaseUrl } = values;
    if (purpose !== "apiserver" || storageDriver !== "postgresql") return [];
    if ((postgresHost ?? databaseUrl) !== undefined) return [];
    const names = [nameOf("postgresHost", sources), nameOf("databaseUrl", sources)];
    return [
      {
        field: nameOf("storageDriver", sources),
        message: "is postgresql, which needs a database",
        fix: `set ${names.join(" or ")}`,
      },
    ];
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

/** Whether its address and port mean anything to what is started. */
function mayServeRest({ roles }: Values, purpose: Purpose): boolean {
  if (purpose === "apiserver") return false;
  return purpose !== "serve" || roles === undefined || roles.includes("rest");
}

/** The credentials, and the only mode in which each means something. */
const modeOf = {
  tokensFile: "token",
  authGatewaySecret: "gateway",
  authGatewayClientCa: "gateway",
  oidcIssuer: "oidc",
  oidcAudience: "oidc",
} as const satisfies Partial<Record<SettingKey, Values["authMode"]>>;

/** What only one driver of the store reads. */
const settingsOf = {
  sqlite: ["sqlitePath"],
  postgresql: [
    "postgresHost",
    "postgresPort",
    "postgresDatabase",
    "postgresUsername",
    "postgresSchema",
    "postgresServerRole",
    "postgresPassword",
    "postgresPasswordFile",
    "postgresSslmode",
  ],
} as const satisfies Record<Values["storageDriver"], readonly SettingKey[]>;

/** Whether it says something of whichever PostgreSQL the store is in, and not where that is. */
function isOfAnyPostgres(key: SettingKey): boolean {
  return key === "postgresSchema" || key === "postgresServerRole";
}

/**
 * Whether somebody meant it. The file has the block of the chart, which speaks of both drivers: of the one that it does not
 * choose it says where the file is, and for PostgreSQL what is so anyway.
 */
function isSaid(key: SettingKey, { values, sources }: Situation): boolean {
  const value = values[key];
  const { origin } = sources[key];
  if (origin !== "file") return origin !== "default";
  const { default: standard, kind } = settings[key] as Setting<unknown>;
  return key !== "sqlitePath" && kind.write(value) !== standard;
}

/** The name by which the user gave it; the canonical variable where nobody did. */
function nameOf(key: SettingKey, sources: Sources): string {
  const { origin, name } = sources[key];
  return origin === "default" ? `${variableOf(key)} (--${flagOf(key)})` : name;
}
