/** Whether an identity may have this address: exactly one `@`, neither half empty, a dot in the domain. */
export function isEmail(text: string): boolean {
  return /^[^@\s]+@[^@\s]+$/.test(text) && domainOf(text).includes(".");
}

/** The part after the `@`. */
export function domainOf(email: string): string {
  return email.slice(email.indexOf("@") + 1);
}
