// Where an operator may be ended: before and after each call that it makes of anybody outside.

import type { CallPoint } from "@keelson/platform";

/** One call of a stage, by its name and how often it was made before. */
export interface KillPoint extends CallPoint {
  readonly nth: number;
}

/**
 * Notes the calls of an operator and ends it at one of them: from then on none passes, neither out nor back. Reads of the
 * cluster are not noted: watches come and go by chance, and what a read finds is the same before and after it. Nor are
 * events, which nobody acts on.
 */
export class Mortality {
  readonly points: KillPoint[] = [];
  readonly ended: Promise<void>;
  isKilled = false;
  readonly #app: string;
  readonly #at: KillPoint | undefined;
  readonly #counts = new Map<string, number>();
  readonly #end: () => void;

  constructor(app: string, at?: KillPoint) {
    this.#app = app;
    this.#at = at;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#end = resolve;
  }

  readonly pass = (call: CallPoint): void => {
    if (this.isKilled) throw new Error("the operator has ended");
    const isRead = call.service === "kubernetes" && call.name.startsWith("GET ");
    if (isRead || call.name.includes("/events")) return;
    const point = this.#pointOf(call);
    this.points.push(point);
    if (this.#at === undefined || textOf(point) !== textOf(this.#at)) return;
    this.isKilled = true;
    this.#end();
    throw new Error("the operator has ended");
  };

  #pointOf({ service, name, when }: CallPoint): KillPoint {
    const general = name.replaceAll(this.#app, "<app>");
    const key = `${when} ${service} ${general}`;
    const nth = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, nth);
    return { service, name: general, when, nth };
  }
}

/** `after sql commit 2`. */
export function textOf({ when, service, name, nth }: KillPoint): string {
  return `${when} ${service} ${name} ${nth}`;
}
