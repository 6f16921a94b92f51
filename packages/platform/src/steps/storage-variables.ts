// What an app is told of its buckets.

import type { App } from "../app.ts";
import { bucketVariable } from "../names/names.ts";
import { bytesOf } from "../storage/file-size.ts";

export interface StoreSettings {
  readonly region: string;
  /** Where the store is, if it is not AWS. */
  readonly endpoint?: string | undefined;
}

/** The variables by which an app finds its buckets. None of them is secret. */
export function storageVariables(
  { spec, names }: Pick<App, "spec" | "names">,
  { region, endpoint }: StoreSettings,
): Record<string, string> {
  const buckets = spec.storage?.buckets ?? [];
  const limited = buckets.filter(({ maxFileSize }) => maxFileSize !== undefined);
  return {
    S3_ENDPOINT: endpoint ?? `https://s3.${region}.amazonaws.com`,
    S3_REGION: region,
    ...Object.fromEntries(buckets.map(({ name }) => [bucketVariable(name), names.bucket(name)])),
    ...Object.fromEntries(
      limited.map((bucket) => [
        bucketVariable(bucket.name, "S3_MAX_FILE_SIZE_"),
        String(bytesOf(bucket)),
      ]),
    ),
  };
}
