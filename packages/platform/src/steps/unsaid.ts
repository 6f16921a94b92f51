// What strangers say goes on into conditions, events and logs. Some of them, gateways and debug pages, repeat what they were
// told: whatever of it is a secret is left out.

const mask = "*****";
/** What is shorter stands in any sentence, and is no secret worth the name. */
const lengthMin = 6;

/** Of what was sent that nobody need know beforehand: tokens, and signatures of requests. */
const carried = /(?<=\bBearer )[\w.~+/=-]+|(?<=\bSignature=)[0-9a-f]+/gi;

/** `words` without these secrets, in any of the forms in which they are sent. */
export function unsaid(words: string, secrets: readonly string[]): string {
  const forms = secrets.filter(({ length }) => length >= lengthMin).flatMap(formsOf);
  // The longest first: one form may be part of another.
  const ordered = forms.toSorted((a, b) => b.length - a.length);
  const said = ordered.reduce((text, form) => text.replaceAll(form, mask), words);
  return said.replaceAll(carried, mask);
}

function formsOf(secret: string): readonly string[] {
  return [
    secret,
    encodeURIComponent(secret),
    String(new URLSearchParams({ secret })).slice("secret=".length),
    JSON.stringify(secret).slice(1, -1),
  ];
}
