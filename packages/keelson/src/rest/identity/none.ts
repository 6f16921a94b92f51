import type { Identity } from "@keelson/base";
import { claimedBy, namesOf, type Authenticator } from "./authenticator.ts";

/**
 * Believes everybody: for one machine, behind a check that requests come from it. Who gives no e-mail address
 * is a controller; everybody is an admin of fleet.
 */
export function believingAuthenticator(): Authenticator {
  return {
    isAuthenticated: false,
    authenticate: (request) => {
      const { headers } = request;
      // Most requests say nothing, and then there is nothing to make.
      if (headers["x-user-email"] === undefined && headers["x-user-roles"] === undefined) {
        if (headers["x-organization-id"] === undefined) return controller;
      }
      const claimed = claimedBy(request);
      if (claimed.email !== undefined) {
        return { ...namesOf({ ...claimed, email: claimed.email }), ...powers };
      }
      const roles = [...new Set(["controller", ...claimed.roles])];
      return { ...namesOf({ ...claimed, email: controller.user, roles }), ...powers };
    },
  };
}

const powers = { fleetRole: "admin", clusters: "all", readOnly: false } as const;

const controller: Identity = Object.freeze({
  user: "controller@system.local",
  domain: "system.local",
  roles: Object.freeze(["controller"]),
  ...powers,
});
