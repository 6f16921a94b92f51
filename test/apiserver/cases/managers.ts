// Who manages fields after writes that are no applies: KB 46, 47.

import { isJsonObject } from "@keelson/base";

import { casesOf, type Script } from "../case.ts";
import { configMap } from "../objects.ts";

const scripts: Record<string, Script> = {
  "managers by parameter and by user agent": async (lab) => {
    const agent = (name: string) => ({ headers: { "user-agent": name } });
    await lab.post(lab.core("configmaps"), configMap("a"), agent("kubectl/v1.36.3 (linux/amd64)"));
    await lab.patch("merge", lab.core("configmaps", "a"), { data: { b: "1" } }, agent("other"));
    await lab.patch(
      "merge",
      `${lab.core("configmaps", "a")}?fieldManager=named`,
      { data: { c: "1" } },
      agent("other"),
    );
    await lab.patch("merge", lab.core("configmaps", "a"), { data: { d: "1" } }, agent(""));
    await lab.patch("merge", `${lab.core("configmaps", "a")}?fieldManager=${"x".repeat(129)}`, {
      data: { d: "2" },
    });
    await lab.patch("merge", `${lab.core("configmaps", "a")}?fieldManager=not%07printable`, {
      data: { d: "2" },
    });
    await lab.post(`${lab.core("configmaps")}?fieldManager=${"x".repeat(129)}`, configMap("b"));
    await lab.patch(
      "merge",
      lab.core("configmaps", "a"),
      { data: { e: "1" } },
      agent("x".repeat(200)),
    );
  },
  "eleven managers": async (lab) => {
    await lab.create(lab.core("configmaps"), configMap("a"));
    for (let turn = 0; turn < 12; turn += 1) {
      await lab.mustPatch(`${lab.core("configmaps", "a")}?fieldManager=m${turn}`, {
        data: { [`k${turn}`]: "1" },
      });
    }
    const { body } = await lab.quietly({ path: lab.core("configmaps", "a") });
    const metadata = isJsonObject(body) && isJsonObject(body["metadata"]) ? body["metadata"] : {};
    const entries = metadata["managedFields"] as { manager: string }[];
    lab.note("entries", entries.length);
    lab.note(
      "has ancient",
      entries.some(({ manager }) => manager === "ancient-changes"),
    );
  },
  "managed fields cleared and kept": async (lab) => {
    await lab.post(lab.core("configmaps"), configMap("a"));
    await lab.patch("merge", lab.core("configmaps", "a"), { metadata: { managedFields: [{}] } });
    await lab.patch("merge", lab.core("configmaps", "a"), { data: { b: "1" } });
    await lab.patch(
      "apply",
      `${lab.core("configmaps", "a")}?fieldManager=m`,
      configMap("a", { c: "1" }),
    );
    await lab.patch("merge", lab.core("configmaps", "a"), { metadata: { managedFields: null } });
    await lab.put(lab.core("configmaps", "a"), configMap("a", { d: "1" }, { managedFields: [] }));
    await lab.patch("json", lab.core("configmaps", "a"), [
      { op: "add", path: "/metadata/managedFields", value: [{}] },
    ]);
  },
};

export const managerCases = casesOf("managers", scripts);
