import { timingSafeEqual } from "node:crypto";
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
  const isSecret = secret === undefined ? () => false : secretComparison(secret);
  const isGateway = (request: IncomingMessage): boolean => {
    const sent = request.headers["x-gateway-secret"];
    if (typeof sent === "string" && isSecret(sent)) return true;
    return acceptsCertificates && hasTrustedCertificate(request);
  };

  return {
    isAuthenticated: true,
    authenticate: (request) => {
      const claimed = claimedBy(request);
      if (!isGateway(request)) {
        const saysWho = Object.values(claimed).some(
          (part) => part !== undefined && part.length > 0,
        );
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

/**
 * Compares with `secret` in a time that tells neither where the first difference is nor how long the secret is: both
 * stand in buffers of one size, after their length.
 */
function secretComparison(secret: string): (sent: string) => boolean {
  const size = Math.max(1_024, 4 + Buffer.byteLength(secret));
  const fill = (buffer: Buffer, text: string): void => {
    buffer.fill(0);
    buffer.writeUInt32LE(text.length);
    buffer.write(text, 4, "utf8");
  };
  const expected = Buffer.alloc(size);
  fill(expected, secret);
  const given = Buffer.alloc(size);
  return (sent) => {
    fill(given, sent); // What is longer is cut off, and has another length.
    return timingSafeEqual(given, expected);
  };
}

function hasTrustedCertificate({ socket }: IncomingMessage): boolean {
  return "authorized" in socket && socket.authorized === true;
}
