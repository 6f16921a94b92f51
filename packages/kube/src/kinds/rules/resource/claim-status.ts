// What a claim was given, for whom, and how the devices are.

import type { JsonObject, MutableJsonObject } from "@keelson/base";

import { byteLength } from "../../../go-text/byte-order.ts";
import { goJson } from "../../../go-text/go-json.ts";
import { quote } from "../../../go-text/quote.ts";
import { printShape, struct } from "../../../go-text/struct-text.ts";
import { memberOf } from "../../../object/member.ts";
import {
  has,
  maybeObject,
  maybeText,
  objectOf,
  objectsOf,
  textOf,
  textsOf,
  writableObject,
  writableObjects,
} from "../../../object/members.ts";
import { labelKeyProblems } from "../../../object/names.ts";
import type { FieldError } from "../../../status/field-error.ts";
import { parseNetwork, printAddress } from "../addresses.ts";
import { tolerationShape } from "../core/pod/tolerations.ts";
import { checkNodeSelector } from "../core/node-selectors.ts";
import { showInternal } from "../internal-form.ts";
import { checkConditions, checkImmutableShown } from "../meta/checks.ts";
import { Place } from "../place.ts";
import { checkDriverName } from "../meta/driver-name.ts";
import {
  checkConfig,
  checkRaw,
  checkRequestRef,
  checkRequestRefs,
  configFields,
  configsMax,
  configTypes,
  requestNamesOf,
  type RequestNames,
} from "./claim-spec.ts";
import { checkLabelName, checkPoolName, checkUid } from "./names.ts";
import { checkEach, checkSet } from "./sets.ts";

const reservedMax = 256;
const resultsMax = 32;
const conditionsMax = 8;
const ipsMax = 16;
const bindingMax = 4;

/** The status of devices that are not the claim's any more goes with them. */
export function dropDeallocatedDevices(object: MutableJsonObject, old: JsonObject): void {
  const gone = new Set(resultsOf(old).map(deviceKey));
  for (const result of resultsOf(object)) gone.delete(deviceKey(result));
  const status = writableObject(object, "status");
  if (status === undefined || !has(status, "devices")) return;
  const kept = writableObjects(status, "devices").filter((device) => !gone.has(deviceKey(device)));
  if (kept.length === 0) delete status["devices"];
  else status["devices"] = [...kept];
}

export function claimStatusErrors(object: JsonObject, old: JsonObject): FieldError[] {
  const at = Place.root("status");
  const [status, before] = [objectOf(object, "status"), objectOf(old, "status")];
  const names = requestNamesOf(objectOf(objectOf(object, "spec"), "devices"));
  const reserved = objectsOf(status, "reservedFor");
  checkSet(reserved, at.child("reservedFor"), {
    max: reservedMax,
    check: checkConsumer,
    keyOf: (consumer) => textOf(consumer, "uid"),
    show: (consumer) => goJson(textOf(consumer, "uid")),
  });
  const allocated = new Set(resultsOf(object).map(deviceKey));
  checkSet(objectsOf(status, "devices"), at.child("devices"), {
    max: Number.POSITIVE_INFINITY,
    check: (device, own) => checkDeviceStatus(device, own, allocated),
    keyOf: deviceKey,
    show: showDevice,
  });
  const allocation = maybeObject(status, "allocation");
  if (reserved.length > 0) checkReserved(object, old, at.child("reservedFor"));
  if (allocation === undefined) return at.errors;
  const place = at.child("allocation");
  if (maybeObject(before, "allocation") === undefined) {
    checkAllocation(allocation, place, names);
    return at.errors;
  }
  checkImmutableShown(allocation, memberOf(before, "allocation"), {
    at: place,
    shown: () => printShape(allocationShape, allocation),
  });
  return at.errors;
}

function resultsOf(object: JsonObject): readonly JsonObject[] {
  const allocation = objectOf(objectOf(object, "status"), "allocation");
  return objectsOf(objectOf(allocation, "devices"), "results");
}

function deviceKey(device: JsonObject): string {
  const names = ["driver", "pool", "device", "shareID"].map((name) => textOf(device, name));
  return JSON.stringify(names);
}

const deviceShape = struct(
  "Driver driver string\nPool pool string\nDevice device string\nShareID shareID string",
);

function showDevice(device: JsonObject): string {
  return printShape(deviceShape, device);
}

function checkReserved(object: JsonObject, old: JsonObject, at: Place): void {
  const status = objectOf(object, "status");
  if (!has(status, "allocation")) {
    at.forbidden("may not be specified when `allocated` is not set");
    return;
  }
  if (!has(objectOf(object, "metadata"), "deletionTimestamp")) return;
  const before = new Set(objectsOf(objectOf(old, "status"), "reservedFor").map(goJson));
  if (objectsOf(status, "reservedFor").some((consumer) => !before.has(goJson(consumer)))) {
    at.forbidden(
      "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
    );
  }
}

function checkConsumer(consumer: JsonObject, at: Place): void {
  for (const name of ["resource", "name", "uid"]) {
    if (textOf(consumer, name) === "") at.child(name).required();
  }
}

function checkAllocation(allocation: JsonObject, at: Place, names: RequestNames): void {
  const devices = objectOf(allocation, "devices");
  const place = at.child("devices");
  checkEach(objectsOf(devices, "results"), place.child("results"), {
    max: resultsMax,
    check: (result, own) => {
      checkRequestRef(textOf(result, "request"), own.child("request"), names);
      checkDriverName(textOf(result, "driver"), own.child("driver"));
      checkPoolName(textOf(result, "pool"), own.child("pool"));
      checkLabelName(textOf(result, "device"), own.child("device"));
      checkBinding(result, own);
      const share = maybeText(result, "shareID");
      if (share !== undefined) checkUid(share, own.child("shareID"));
    },
  });
  checkEach(objectsOf(devices, "config"), place.child("config"), {
    max: 2 * configsMax,
    check: (config, own) => {
      const source = textOf(config, "source");
      const sources = ["FromClaim", "FromClass"];
      if (source === "") own.child("source").required();
      else if (!sources.includes(source)) own.child("source").notSupported(source, sources);
      checkRequestRefs(textsOf(config, "requests"), own.child("requests"), names);
      checkConfig(config, own);
    },
  });
  const selector = maybeObject(allocation, "nodeSelector");
  if (selector !== undefined) {
    checkNodeSelector(selector, at.child("nodeSelector"), { allowInvalidValues: false });
  }
}

/** Reports what is wrong with the conditions under which a device is bound. */
export function checkBinding(device: JsonObject, at: Place): void {
  const [bound, failed] = [
    textsOf(device, "bindingConditions"),
    textsOf(device, "bindingFailureConditions"),
  ];
  const [boundAt, failedAt] = [at.child("bindingConditions"), at.child("bindingFailureConditions")];
  const check = (name: string, own: Place): void => own.invalidEach(name, labelKeyProblems(name));
  checkEach(bound, boundAt, { max: bindingMax, check });
  checkEach(failed, failedAt, { max: bindingMax, check });
  const seen = new Set<string>();
  for (const [index, name] of bound.entries()) {
    if (seen.has(name)) boundAt.item(index).duplicate(name);
    seen.add(name);
  }
  const seenFailed = new Set<string>();
  for (const [index, name] of failed.entries()) {
    if (seenFailed.has(name)) failedAt.item(index).duplicate(name);
    seenFailed.add(name);
    if (seen.has(name)) {
      const detail = "bindingFailureConditions must not overlap with bindingConditions";
      failedAt.item(index).invalid(name, detail);
    }
  }
  if (bound.length === 0 && failed.length > 0) {
    boundAt.invalid(null, "bindingConditions are required to use bindingFailureConditions");
  }
  if (failed.length === 0 && bound.length > 0) {
    failedAt.invalid(null, "bindingFailureConditions are required to use bindingConditions");
  }
}

function checkDeviceStatus(device: JsonObject, at: Place, allocated: ReadonlySet<string>): void {
  checkDriverName(textOf(device, "driver"), at.child("driver"));
  checkPoolName(textOf(device, "pool"), at.child("pool"));
  checkLabelName(textOf(device, "device"), at.child("device"));
  const share = maybeText(device, "shareID");
  if (share !== undefined) checkUid(share, at.child("shareID"));
  if (!allocated.has(deviceKey(device))) {
    at.invalidShown(showDevice(device), "must be an allocated device in the claim");
  }
  const conditions = objectsOf(device, "conditions");
  const place = at.child("conditions");
  if (conditions.length > conditionsMax) place.tooMany(conditions.length, conditionsMax);
  checkConditions(conditions, place);
  const data = memberOf(device, "data");
  if (data !== undefined && data !== null) checkRaw(data, at.child("data"));
  const network = maybeObject(device, "networkData");
  if (network !== undefined) checkNetworkData(network, at.child("networkData"));
}

function checkNetworkData(network: JsonObject, at: Place): void {
  if (byteLength(textOf(network, "interfaceName")) > 256) at.child("interfaceName").tooLong(256);
  if (byteLength(textOf(network, "hardwareAddress")) > 128) {
    at.child("hardwareAddress").tooLong(128);
  }
  checkSet(textsOf(network, "ips"), at.child("ips"), {
    max: ipsMax,
    check: checkInterfaceAddress,
    keyOf: (address) => address,
  });
}

function checkInterfaceAddress(text: string, at: Place): void {
  const network = parseNetwork(text);
  if (network === undefined) {
    const detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
    at.invalid(text, detail);
    return;
  }
  const { address, bits } = network;
  const usual = `${printAddress(address)}/${address.isMapped && bits > 32 ? bits - 96 : bits}`;
  if (usual !== text) at.invalid(text, `must be in canonical form (${quote(usual)})`);
}

const allocationShape = struct(
  `Devices devices devices
  NodeSelector nodeSelector *selector
  AllocationTimestamp allocationTimestamp any`,
  {
    selector: () => ({
      print: (value) => showInternal("core.NodeSelector", value as JsonObject),
    }),
    devices: () =>
      struct("Results results []result\nConfig config []config", {
        result: () =>
          struct(
            `Request request string
            Driver driver string
            Pool pool string
            Device device string
            AdminAccess adminAccess *boolean
            Tolerations tolerations []toleration
            BindingConditions bindingConditions []string
            BindingFailureConditions bindingFailureConditions []string
            ShareID shareID *string
            ConsumedCapacity consumedCapacity {}any`,
            { toleration: () => tolerationShape },
          ),
        config: () =>
          struct(`Source source string\nRequests requests []string\n${configFields}`, configTypes),
      }),
  },
);
