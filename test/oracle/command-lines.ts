// The command line of each program of a cluster, and nothing else about them.

import { join } from "node:path";

export type ClusterProgram =
  | "etcd"
  | "kube-apiserver"
  | "kube-controller-manager"
  | "kube-scheduler"
  | "kwok";

export interface Layout {
  readonly folder: string;
  readonly ports: Readonly<Record<ClusterProgram | "etcdPeer", number>>;
  /** What kube-controller-manager runs; without it there is no such program. */
  readonly controllers: readonly string[] | undefined;
}

/** Never routed (RFC 5737). An address of some interface would do, but a sandbox may have none. */
const nowhere = "192.0.2.1";

export function argumentsOf(program: ClusterProgram, layout: Layout): string[] {
  const { folder, ports, controllers } = layout;
  const file = (name: string): string => join(folder, name);
  const url = (name: keyof Layout["ports"]): string => `http://127.0.0.1:${ports[name]}`;
  switch (program) {
    case "etcd":
      return flags({
        "data-dir": file("etcd"),
        "listen-client-urls": url("etcd"),
        "advertise-client-urls": url("etcd"),
        "listen-peer-urls": url("etcdPeer"),
        "initial-advertise-peer-urls": url("etcdPeer"),
        "initial-cluster": `default=${url("etcdPeer")}`,
        "unsafe-no-fsync": "true", // The data does not outlive a test.
        "log-level": "warn",
      });
    case "kube-apiserver":
      return flags({
        "etcd-servers": url("etcd"),
        // History goes when a test says so, never by the clock.
        "etcd-compaction-interval": "0",
        "bind-address": "127.0.0.1",
        "secure-port": String(ports["kube-apiserver"]),
        "advertise-address": nowhere,
        "tls-cert-file": file("apiserver.crt"),
        "tls-private-key-file": file("apiserver.key"),
        "client-ca-file": file("ca.crt"),
        "token-auth-file": file("tokens.csv"),
        "authorization-mode": "RBAC",
        "allow-privileged": "true",
        "service-cluster-ip-range": "10.96.0.0/16",
        "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
        "service-account-key-file": file("service-accounts.pub"),
        "service-account-signing-key-file": file("service-accounts.key"),
        "requestheader-client-ca-file": file("front-proxy-ca.crt"),
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-uid-headers": "X-Remote-Uid",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "proxy-client-cert-file": file("front-proxy-client.crt"),
        "proxy-client-key-file": file("front-proxy-client.key"),
        // Nobody makes the account `default` without its controller, and Pods would be refused.
        ...(controllers === undefined ? { "disable-admission-plugins": "ServiceAccount" } : {}),
        v: "1",
      });
    case "kube-controller-manager":
      return flags({
        kubeconfig: file("kube-controller-manager.kubeconfig"),
        "authentication-kubeconfig": file("kube-controller-manager.kubeconfig"),
        "authorization-kubeconfig": file("kube-controller-manager.kubeconfig"),
        controllers: (controllers ?? ["*"]).join(","),
        "bind-address": "127.0.0.1",
        "secure-port": String(ports["kube-controller-manager"]),
        "leader-elect": "false",
        "root-ca-file": file("ca.crt"),
        "cluster-signing-cert-file": file("ca.crt"),
        "cluster-signing-key-file": file("ca.key"),
        "service-account-private-key-file": file("service-accounts.key"),
        "cert-dir": file("kube-controller-manager-certificates"),
        v: "1",
      });
    case "kube-scheduler":
      return flags({
        kubeconfig: file("kube-scheduler.kubeconfig"),
        "authentication-kubeconfig": file("kube-scheduler.kubeconfig"),
        "authorization-kubeconfig": file("kube-scheduler.kubeconfig"),
        "bind-address": "127.0.0.1",
        "secure-port": String(ports["kube-scheduler"]),
        "leader-elect": "false",
        "cert-dir": file("kube-scheduler-certificates"),
        v: "1",
      });
    case "kwok":
      return flags({
        kubeconfig: file("admin.kubeconfig"),
        config: join(import.meta.dirname, "stages.yaml"),
        "manage-all-nodes": "true",
        cidr: "10.244.0.0/16",
        "node-ip": nowhere,
        "node-lease-duration-seconds": "40",
        "server-address": `127.0.0.1:${ports.kwok}`,
      });
  }
}

/** Where a program says that it is ready. */
export function readyUrlOf(program: ClusterProgram, { ports }: Layout): string {
  switch (program) {
    case "etcd":
      return `http://127.0.0.1:${ports.etcd}/health`;
    case "kube-apiserver":
      return `https://127.0.0.1:${ports["kube-apiserver"]}/readyz`;
    case "kube-controller-manager":
    case "kube-scheduler":
      return `https://127.0.0.1:${ports[program]}/healthz`;
    case "kwok":
      return `http://127.0.0.1:${ports.kwok}/healthz`;
  }
}

function flags(values: Readonly<Record<string, string>>): string[] {
  return Object.entries(values).map(([name, value]) => `--${name}=${value}`);
}
