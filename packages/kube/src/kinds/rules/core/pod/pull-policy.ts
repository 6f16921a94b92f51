import type { Place } from "../../place.ts";

const policies: readonly string[] = ["Always", "IfNotPresent", "Never"];

/** Reports a policy for fetching images that is none. */
export function checkPullPolicy(policy: string, at: Place): void {
  if (policy === "") at.required();
  else if (!policies.includes(policy)) at.notSupported(policy, policies);
}
