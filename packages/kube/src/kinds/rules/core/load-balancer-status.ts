import type { JsonObject } from "@keelson/base";

import { listOf, maybeText, objectsOf, textOf } from "../../../object/members.ts";
import { dnsSubdomainProblems } from "../../../object/names.ts";
import { checkAddress, parseAddress } from "../addresses.ts";
import type { Place } from "../place.ts";

/** Reports what is wrong with the addresses that a load balancer got. */
export function checkLoadBalancerStatus(
  status: JsonObject,
  at: Place,
  { old, isAllowed }: { readonly old: JsonObject; readonly isAllowed: boolean },
): void {
  const place = at.child("ingress");
  if (!isAllowed && listOf(status, "ingress").length > 0) {
    place.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
    return;
  }
  const existing = new Set(objectsOf(old, "ingress").map((ingress) => textOf(ingress, "ip")));
  for (const [index, ingress] of objectsOf(status, "ingress").entries()) {
    const own = place.item(index);
    const [ip, mode] = [textOf(ingress, "ip"), maybeText(ingress, "ipMode")];
    if (ip !== "") checkAddress(ip, own.child("ip"), { existing });
    if (mode === undefined) {
      if (ip !== "") own.child("ipMode").required("must be specified when `ip` is set");
    } else if (ip === "")
      own.child("ipMode").forbidden("may not be specified when `ip` is not set");
    else if (mode !== "VIP" && mode !== "Proxy")
      own.child("ipMode").notSupported(mode, ["Proxy", "VIP"]);
    const host = textOf(ingress, "hostname");
    if (host === "") continue;
    own.child("hostname").invalidEach(host, dnsSubdomainProblems(host));
    if (parseAddress(host) !== undefined) {
      own.child("hostname").invalid(host, "must be a DNS name, not an IP address");
    }
  }
}
