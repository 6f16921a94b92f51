import { validationFailed } from "@keelson/base";

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return pattern.test(text);
}

/** The id in small letters. Throws `VALIDATION_FAILED` for what is none. */
export function readUuid(text: string, field = "id"): string {
  if (!isUuid(text)) throw validationFailed({ field, message: "must be a UUID" });
  return text.toLowerCase();
}
