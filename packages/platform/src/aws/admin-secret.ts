// The administrator's URL from a secret of AWS Secrets Manager, as RDS and Aurora keep it: who may enter, and where.

import { systemClock, type Clock } from "@keelson/base";

import { nameS3Error } from "../s3/s3-errors.ts";
import { StepError, type StepReason } from "../steps/step-error.ts";
import { inTime } from "./in-time.ts";

export interface AdminSecretOptions {
  /** Its ARN, which says its region too; or its name. */
  readonly arn: string;
  /** Where a secret is that is only named. */
  readonly region: string;
  /** Whom to ask, if that is not AWS. */
  readonly endpoint?: string | undefined;
  /** What a secret that only knows the password does not say: RDS writes such by itself. */
  readonly usual?: {
    readonly host?: string | undefined;
    readonly port?: number | undefined;
    readonly database?: string | undefined;
  };
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * Reads the secret at each call. Credentials are found as the SDK finds them: in the environment, in files, or as the role
 * of the pod. Every failure is a `StepError` that has nothing of the secret in it.
 */
export function adminUrlFromSecret(
  options: AdminSecretOptions,
): (signal: AbortSignal) => Promise<string> {
  return async (signal) => {
    const text = await readSecret(options, signal);
    return adminUrlIn(text, options);
  };
}

async function readSecret(options: AdminSecretOptions, signal: AbortSignal): Promise<string> {
  const { arn, clock = systemClock, timeoutMs = 10_000 } = options;
  signal.throwIfAborted();
  const what = `AWS Secrets Manager: ${arn}`;
  try {
    return await inTime({ clock, timeoutMs, what }, (stop) => ask(options, stop), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw nameError(error, arn);
  }
}

/** The SDK is loaded only here: whoever has no such secret does without. */
async function ask(
  { arn, region, endpoint }: AdminSecretOptions,
  abortSignal: AbortSignal,
): Promise<string> {
  const { SecretsManager } = await import("@aws-sdk/client-secrets-manager");
  const [, , , arnRegion = ""] = arn.startsWith("arn:") ? arn.split(":") : [];
  const manager = new SecretsManager({
    region: arnRegion === "" ? region : arnRegion,
    ...(endpoint === undefined ? {} : { endpoint }),
    maxAttempts: 1,
  });
  try {
    const { SecretString = "" } = await manager.getSecretValue({ SecretId: arn }, { abortSignal });
    return SecretString;
  } finally {
    manager.destroy();
  }
}

/** Codes of the JSON protocol, whose status is 400 whatever they mean. */
const reasons: Readonly<Record<string, StepReason>> = {
  AccessDeniedException: "Refused",
  ExpiredTokenException: "Refused",
  IncompleteSignature: "Refused",
  InvalidSignatureException: "Refused",
  UnrecognizedClientException: "Refused",
  DecryptionFailure: "Refused",
  ResourceNotFoundException: "NotConfigured",
  InvalidRequestException: "NotConfigured",
  InternalServiceError: "Unreachable",
  ThrottlingException: "Unreachable",
};

function nameError(error: unknown, arn: string): Error {
  if (error instanceof StepError) return error;
  const { name, message } = error as Error;
  const reason = reasons[name];
  const store = `AWS Secrets Manager: secret ${arn}`;
  if (reason === undefined) return nameS3Error(error, { name: "getSecretValue" }, store);
  const [line = ""] = message.split("\n");
  return new StepError(reason, `${store}: ${name}: ${line.slice(0, 300)}`);
}

/** What of the secret we read. */
interface Members {
  readonly username?: unknown;
  readonly password?: unknown;
  readonly host?: unknown;
  readonly port?: unknown;
  readonly dbname?: unknown;
  readonly sslmode?: unknown;
}

/** Exported for its tests. No message has anything of the text in it. */
export function adminUrlIn(
  text: string,
  { arn, usual = {} }: Pick<AdminSecretOptions, "arn" | "usual">,
): string {
  const members = membersOf(text);
  const { username, password, sslmode } = members ?? {};
  const host = members?.host ?? usual.host;
  const port = Number(members?.port ?? usual.port ?? 5432);
  const dbname = members?.dbname ?? usual.database;
  const wrong = [
    ...Object.entries({ username, password, host, dbname })
      .filter(([, value]) => typeof value !== "string" || value === "")
      .map(([name]) => name),
    ...(Number.isInteger(port) && port > 0 && port <= 65_535 ? [] : ["port"]),
  ];
  if (members === undefined || wrong.length > 0) {
    throw new StepError(
      "NotConfigured",
      `secret ${arn} must be JSON with username, password, host, port and dbname: ${members === undefined ? "it is no JSON object" : `look at ${wrong.join(", ")}`}`,
    );
  }
  const [user, word, name] = [username, password, dbname].map((part) =>
    encodeURIComponent(part as string),
  );
  const where = (host as string).includes(":") ? `[${host as string}]` : (host as string);
  const tls = typeof sslmode === "string" ? `?sslmode=${encodeURIComponent(sslmode)}` : "";
  return `postgresql://${user}:${word}@${where}:${port}/${name}${tls}`;
}

function membersOf(text: string): Members | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
