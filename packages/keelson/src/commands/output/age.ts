// How long ago something was, in as few letters as kubectl takes.

/** `42s`, `3m12s`, `47m`, `5h`, `3d`, `2y40d`; `-` for a time that nobody told. */
export function ageOf(time: string | null | undefined, nowMs: number): string {
  const atMs = Date.parse(time ?? "");
  if (Number.isNaN(atMs)) return "-";
  const seconds = Math.max(0, Math.floor((nowMs - atMs) / 1000));
  const [minutes, hours, days] = [60, 3_600, 86_400].map((unit) => Math.floor(seconds / unit));
  if (minutes === undefined || hours === undefined || days === undefined) return "-";
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return withRest(`${minutes}m`, seconds % 60, "s");
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return withRest(`${hours}h`, minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return withRest(`${days}d`, hours % 24, "h");
  if (days < 730) return `${days}d`;
  return withRest(`${Math.floor(days / 365)}y`, days % 365, "d");
}

function withRest(text: string, rest: number, unit: string): string {
  return rest === 0 ? text : `${text}${rest}${unit}`;
}
