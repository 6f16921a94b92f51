import { isUnset, type DefaultRule, type DefaultRules } from "./default-rule.ts";

const countedDevices: DefaultRule = {
  owns: ["allocationMode", "count"],
  apply: (request) => {
    if (isUnset(request, "allocationMode")) request["allocationMode"] = "ExactCount";
    const count = request["count"] ?? 0;
    if (request["allocationMode"] === "ExactCount" && count === 0) request["count"] = 1;
  },
};

export const resourceDefaults: DefaultRules = {
  "resource.v1.ExactDeviceRequest": countedDevices,
  "resource.v1.DeviceSubRequest": countedDevices,
};
