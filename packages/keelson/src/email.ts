/** Whether an identity may have this address: exactly one `@`, neither half empty, a dot in the domain, and nothing that no column or log line holds. */
export function isEmail(text: string): boolean {
  return /^[^@\s\p{Cc}\p{Cs}]+@[^@\s\p{Cc}\p{Cs}]+$/u.test(text) && domainOf(text).includes(".");
}

/** The part after the `@`. */
export function domainOf(email: string): string {
  return email.slice(email.indexOf("@") + 1);
}
