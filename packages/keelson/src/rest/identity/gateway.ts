import { hash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { fleetRoleFrom, RestError } from "@keelson/base";
import { claimedBy, namesOf, type Authenticator } from "./authenticator.ts";

export interface GatewayOptions {
  /** What the gateway sends as `X-Gateway-Secret`. */
  readonly secret: string | undefined;
  /** Whether connections with a client certificate of the configured authority are the gateway's. */
  readonly acceptsCertificates: boolean;
}

/** Believes the headers of a gateway that proves to be ours, by its secret or by its certificate. */
export function gatewayAuthenticator({
  secret,
  acceptsCertificates,
}: GatewayOptions): Authenticator {
  // Digests have one length whatever was sent, so the comparison tells nothing, not even that.
  const expected = secret === undefined ? undefined : digest(secret);
  const isGateway = (request: IncomingMessage): boolean => {
    const sent = request.headers["x-gateway-secret"];
    if (expected !== undefined && typeof sent === "string") {
      if (timingSafeEqual(digest(sent), expected)) return true;
    }
    return acceptsCertificates && hasTrustedCertificate(request);
  };

  return {
    isAuthenticated: true,
    authenticate: (request) => {
      const claimed = claimedBy(request);
      const saysWho = Object.values(claimed).some((part) => part !== undefined && part.length > 0);
      if (!isGateway(request)) {
        throw saysWho || request.headers["x-gateway-secret"] !== undefined
          ? new RestError(
              "UNTRUSTED_GATEWAY",
              "the caller's identity does not come from the gateway",
            )
          : new RestError("AUTH_REQUIRED", "requests come through the gateway");
      }
      if (claimed.email === undefined) {
        throw new RestError("AUTH_REQUIRED", "the gateway sent no X-User-Email");
      }
      return {
        ...namesOf({ ...claimed, email: claimed.email }),
        fleetRole: fleetRoleFrom(claimed.roles),
        clusters: "all",
        readOnly: false,
      };
    },
  };
}

function digest(secret: string): Buffer {
  return hash("sha256", secret, "buffer");
}

function hasTrustedCertificate({ socket }: IncomingMessage): boolean {
  return "authorized" in socket && socket.authorized === true;
}
