// Objects of ours for tests, and where they are.

import type { JsonObject } from "@keelson/base";

import { ark } from "../apiserver/scenarios/ark.ts";
import { group } from "./host-objects.ts";

export function pathOf(plural: string, namespace: string, name?: string): string {
  return ark(namespace, plural, name);
}

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

export interface MemoryOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly owners?: readonly Owner[];
  readonly finalizers?: readonly string[];
  readonly address?: string;
}

/** The smallest of our kinds that refers to nothing. */
export function memory(name: string, options: MemoryOptions = {}): JsonObject {
  const { labels, owners, finalizers, address = "http://memory.example.com" } = options;
  return {
    apiVersion: `${group}/v1alpha1`,
    kind: "Memory",
    metadata: {
      name,
      ...(labels === undefined ? {} : { labels }),
      ...(owners === undefined ? {} : { ownerReferences: owners.map((owner) => ({ ...owner })) }),
      ...(finalizers === undefined ? {} : { finalizers }),
    },
    spec: { address: { value: address } },
  };
}

/** A created object as something that owns others. */
export function ownerOf(created: unknown): Owner {
  const { apiVersion, kind, metadata } = created as {
    readonly apiVersion: string;
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly uid: string };
  };
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid };
}
