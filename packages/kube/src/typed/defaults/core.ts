import { cloneJson, isJsonObject, setMember } from "@keelson/base";

import { isNil, objectAt, type DefaultRules } from "./default-rule.ts";
import { addMissing } from "./resource-lists.ts";

const nameLabel = "kubernetes.io/metadata.name";

export const coreDefaults: DefaultRules = {
  "core.v1.Namespace": {
    owns: [],
    apply: (namespace) => {
      const metadata = objectAt(namespace, "metadata");
      const name = metadata?.["name"];
      if (metadata === undefined || typeof name !== "string" || name === "") return;
      const labels = objectAt(metadata, "labels") ?? {};
      setMember(labels, nameLabel, name);
      metadata["labels"] = labels;
    },
  },
  "core.v1.ReplicationController": {
    owns: [],
    apply: (controller) => {
      const labels = objectAt(controller, "spec", "template", "metadata", "labels");
      const metadata = objectAt(controller, "metadata");
      const spec = objectAt(controller, "spec");
      if (labels === undefined || metadata === undefined || spec === undefined) return;
      if (objectAt(spec, "selector") === undefined) spec["selector"] = cloneJson(labels);
      if (objectAt(metadata, "labels") === undefined) metadata["labels"] = cloneJson(labels);
    },
  },
  "core.v1.NodeStatus": {
    owns: ["allocatable"],
    apply: (status) => {
      const capacity = objectAt(status, "capacity");
      if (capacity !== undefined && isNil(status, "allocatable")) {
        status["allocatable"] = cloneJson(capacity);
      }
    },
  },
  "core.v1.LimitRangeItem": {
    owns: ["default", "defaultRequest"],
    apply: (item) => {
      if (item["type"] !== "Container") return;
      const limits = objectAt(item, "default") ?? {};
      const requests = objectAt(item, "defaultRequest") ?? {};
      addMissing(limits, objectAt(item, "max") ?? {});
      addMissing(requests, limits);
      addMissing(requests, objectAt(item, "min") ?? {});
      for (const [name, list] of Object.entries({ default: limits, defaultRequest: requests })) {
        if (isJsonObject(list) && Object.keys(list).length > 0) item[name] = list;
      }
    },
  },
};
