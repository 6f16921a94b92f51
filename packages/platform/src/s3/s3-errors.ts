// The one place that reads the codes of S3 and of its SDK.

import { isConnectionFailure, isDistrust, isTlsFailure } from "@keelson/base";
import { retryAfterMsIn } from "../steps/retry-after.ts";
import { StepError, type StepReason } from "../steps/step-error.ts";
import { unsaid } from "../steps/unsaid.ts";

/** What was asked of whom. */
export interface S3Call {
  readonly name: string;
  /** Left out: it is about no bucket in particular. */
  readonly bucket?: string;
}

/** What the SDK threw: an answer of the store, or a code of the system. */
interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: {
    readonly statusCode?: number;
    readonly headers?: Readonly<Record<string, string>>;
  };
}

/** What `error` of a call means to a step. What is named already passes through. */
export function nameS3Error(error: unknown, { name, bucket }: S3Call, store: string): Error {
  if (error instanceof StepError) return error;
  const thrown = error as SdkError;
  const status = thrown.$metadata?.httpStatusCode ?? thrown.$response?.statusCode;
  const code = codeOf(thrown, status);
  const said = sentenceOf(thrown, code, status);
  // Not the SDK's error itself: it holds the request, its signature and the answer.
  const cause = Object.assign(new Error(said), { code, status, call: name });
  const what = `${store}: ${name}${bucket === undefined ? "" : ` of bucket ${bucket}`}`;
  const reason = reasonOf(code, status);
  if (reason === undefined) return new Error(`${what} failed: ${said}`, { cause });
  const retryAfterMs = retryAfterMsIn(thrown.$response?.headers?.["retry-after"]);
  return new StepError(reason, `${what}: ${sentences[reason] ?? ""}${said}`, {
    cause,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** For `catch`: `value` where the store answered with one of these codes or statuses. */
export function whenAnswered<T>(codes: readonly string[], value: T): (error: unknown) => T {
  return (error) => {
    if (!isAnswer(error, codes)) throw error;
    return value;
  };
}

/** Whether the store answered with one of these codes or statuses. */
export function isAnswer(error: unknown, codes: readonly string[]): boolean {
  const { code, status } = ((error as Error).cause ?? {}) as { code?: string; status?: number };
  return [code, status].some((one) => one !== undefined && codes.includes(String(one)));
}

/** Answers of stores that do not have an operation. */
export const lacking: readonly string[] = ["NotImplemented", "MethodNotAllowed", "501", "405"];

/** Answers that say who we are is not believed; the keys may be others by now. */
export const disbelieved: readonly string[] = [
  "401",
  "ExpiredToken",
  "InvalidAccessKeyId",
  "InvalidToken",
  "SignatureDoesNotMatch",
  "TokenRefreshRequired",
];

const sentences: Partial<Record<StepReason, string>> = {
  Unreachable: "no answer: ",
  Refused: "refused: ",
};

function reasonOf(code: string, status: number | undefined): StepReason | undefined {
  if (code === "CredentialsProviderError") return "NotConfigured";
  if (code === "BucketAlreadyExists") return "Conflict";
  if (code === "BucketNotEmpty") return "CleanupFailed";
  if (code === "InvalidBucketName") return "InvalidSpec";
  // A bucket of that name is being made or removed: it may well succeed in a while.
  if (["OperationAborted", "NoSuchBucket"].includes(code)) return "Unreachable";
  if (["TooManyBuckets", "AuthorizationHeaderMalformed"].includes(code)) return "Refused";
  if (status === undefined) return isAway(code) ? "Unreachable" : undefined;
  if (status === 401 || status === 403) return "Refused";
  const isBusy =
    status === 429 || /^(SlowDown|Throttl\w*|RequestTimeout|RequestLimit\w*)/.test(code);
  return isBusy || (status >= 500 && status !== 501) ? "Unreachable" : undefined;
}

/** The SDK's own, then the system's and those of TLS. */
function isAway(code: string): boolean {
  return (
    /^(TimeoutError|NetworkingError|AbortError)$/.test(code) ||
    /^(EPROTO|HPE_\w+)$/.test(code) ||
    isConnectionFailure(code) ||
    isDistrust(code) ||
    isTlsFailure(code)
  );
}

/** What came instead of an answer of S3, a page of a proxy for one, has no code but its status. */
function codeOf({ name = "", code }: SdkError, status: number | undefined): string {
  if (typeof code === "string") return code;
  const isNameless = ["", "Error", "SyntaxError", "Unknown", "UnknownError"].includes(name);
  return isNameless && status !== undefined ? String(status) : name;
}

function sentenceOf({ message = "" }: SdkError, code: string, status: number | undefined): string {
  if (code === "CredentialsProviderError") {
    return "there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the operator a role";
  }
  // The SDK says how to debug itself where it cannot read the body, and its own name of what has none.
  const isReadable = !/Deserialization error|^(UnknownError|Unknown)?$/.test(message);
  const [line = ""] = message.split("\n");
  const words = [
    ...(status === undefined || code === String(status) ? [] : [code]),
    ...(isReadable ? [unsaid(line, []).slice(0, 300)] : []), // Its keys are never sent.
  ];
  const text = words.join(": ");
  if (status === undefined) return text === "" ? code : text;
  return text === "" ? `status ${status}` : `${text} (status ${status})`;
}
