// When a service wants to be asked again, as HTTP has it.

/** Of the header `Retry-After`, in seconds; a date is not worth the trouble. */
export function retryAfterMsIn(header: string | null | undefined): number | undefined {
  return /^\d{1,6}$/.test(header ?? "") ? Number(header) * 1000 : undefined;
}
