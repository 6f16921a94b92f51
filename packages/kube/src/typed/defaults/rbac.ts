import { isUnset, type DefaultRules } from "./default-rule.ts";

export const rbacDefaults: DefaultRules = {
  "rbac.v1.Subject": {
    owns: ["apiGroup"],
    apply: (subject) => {
      const { kind } = subject;
      if ((kind === "User" || kind === "Group") && isUnset(subject, "apiGroup")) {
        subject["apiGroup"] = "rbac.authorization.k8s.io";
      }
    },
  },
};
