// How much of a scenario is run: the gate's few seconds, or the scenario's own length.

/** `KEELSON_TEST_LENGTH`: the share of the scenario's length, 1 for all of it; unset in the gate. */
const share = Number(process.env["KEELSON_TEST_LENGTH"] ?? 0);

/** Whether more than the gate's measure is asked for. */
export const isAtLength = share > 0;

/** A count or a duration: the gate's, or as much of the scenario's own as is asked for, and never less than the gate's. */
export function measure({ gate, full }: { readonly gate: number; readonly full: number }): number {
  return Math.max(gate, Math.round(full * Math.min(share, 1)));
}

/** How many scenarios run at once: those of the gate wait most of the time, the others are timed. */
export const concurrency = isAtLength ? 1 : 2;
