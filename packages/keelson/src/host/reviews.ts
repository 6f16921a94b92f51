// The questions that a host answers about callers, as it wants them, and what it says.

import { isJsonArray, isJsonObject, type Json, type JsonObject } from "@keelson/base";
import type { Attributes, Decision, TokenVerdict, User } from "@keelson/apiserver";

export interface Review {
  readonly path: string;
  readonly body: JsonObject;
}

export function tokenReview(token: string): Review {
  return {
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } },
  };
}

export function verdictOf(status: JsonObject): TokenVerdict {
  const { user, authenticated, error } = status;
  if (authenticated !== true || !isJsonObject(user)) {
    return { refusal: textOf(error) === "" ? "the host does not know the token" : textOf(error) };
  }
  const extra = isJsonObject(user["extra"]) ? user["extra"] : {};
  return {
    user: {
      name: textOf(user["username"]),
      uid: textOf(user["uid"]),
      groups: textsOf(user["groups"]),
      extra: Object.fromEntries(Object.entries(extra).map(([key, value]) => [key, textsOf(value)])),
    },
    audiences: textsOf(status["audiences"]),
  };
}

export function accessReview(user: User, attributes: Attributes): Review {
  const { name, uid, groups, extra } = user;
  const spec: JsonObject = {
    user: name,
    groups: [...groups],
    ...(uid === "" ? {} : { uid }),
    ...(Object.keys(extra).length === 0
      ? {}
      : {
          extra: Object.fromEntries(Object.entries(extra).map(([key, texts]) => [key, [...texts]])),
        }),
    ...question(attributes),
  };
  return {
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec },
  };
}

export function decisionOf(status: JsonObject): Decision {
  const { allowed, denied, reason, evaluationError } = status;
  const error = textOf(evaluationError);
  return {
    isAllowed: allowed === true && denied !== true,
    reason: textOf(reason),
    ...(error === "" ? {} : { evaluationError: error }),
  };
}

function question(attributes: Attributes): JsonObject {
  if (!attributes.isResource) {
    const { verb, path } = attributes;
    return { nonResourceAttributes: { verb, path } };
  }
  const { isResource: _, ...resourceAttributes } = attributes;
  return { resourceAttributes };
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function textsOf(value: Json | undefined): readonly string[] {
  return isJsonArray(value) ? value.filter((one) => typeof one === "string") : [];
}
