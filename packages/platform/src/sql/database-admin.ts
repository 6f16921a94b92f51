// PostgreSQL as the platform needs it: a schema and two roles for each app, given, kept and taken away. It knows
// nothing of Kubernetes.

import { systemClock, systemRandom, type Clock, type Random } from "@keelson/base";
import type { OwnedKind } from "../kinds/status.ts";
import { claim } from "../ownership/claim.ts";
import type { Ledger } from "../ownership/ledger.ts";
import { StepError } from "../steps/step-error.ts";
import type { ConnectionParts } from "./connection-parts.ts";
import { isWrongPassword } from "./driver-errors.ts";
import { literal, quoted } from "./identifier.ts";
import { inspect, type DatabaseNames, type Inspection } from "./inspection.ts";
import { isRemovedInPart, parseOwnerComment } from "./owner-comment.ts";
import { databaseObjects, provisionPlan, takesInPart, type Wanted } from "./provision-plan.ts";
import { ownsDatabase, removeOwned, retainOwned, type Leaving } from "./removal.ts";
import { installReload, notifyReload } from "./schema-reload.ts";
import { saltBytes, scramVerifier } from "./scram.ts";
import { Session, type StatementPoint } from "./session.ts";
import { SessionPool } from "./session-pool.ts";

export interface DatabaseAdminOptions {
  /** The administrator's URL as it is now. Asked for at first use, and after PostgreSQL refused the last one. */
  readonly adminUrl: (signal: AbortSignal) => Promise<string>;
  readonly sessionsMax?: number;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** For tests: called at every statement. What it throws counts as the failure of that statement. */
  readonly onStatement?: (point: StatementPoint) => void | Promise<void>;
}

export interface Provision extends Wanted {
  readonly ledger: Ledger;
  /** Called before a schema is made where there is none, and again where that was cut off. */
  readonly beforeSchema?: () => Promise<void>;
}

/** For how long triggers that were seen are believed to be there: a restored database has lost them. */
const triggersMs = 300_000;

/**
 * Every failure is a `StepError`, but those of a bug, and none has a password in it. Calls may be repeated: what is
 * there already is not made again, and where nothing differs nothing is written.
 */
export class DatabaseAdmin implements AsyncDisposable {
  readonly #pool: SessionPool;
  readonly #random: Random;
  /** Not asked with every app. Whoever may not install a trigger need not try again; one that is there may be dropped. */
  #telling: { readonly isByItself: boolean; readonly untilMs: number } | undefined;
  readonly #session: {
    readonly timeoutMs: number;
    readonly clock: Clock;
    readonly onStatement?: (point: StatementPoint) => void | Promise<void>;
  };

  constructor(options: DatabaseAdminOptions) {
    const { adminUrl, sessionsMax = 5, timeoutMs = 10_000, idleMs = 60_000, onStatement } = options;
    this.#random = options.random ?? systemRandom;
    this.#session = {
      timeoutMs,
      clock: options.clock ?? systemClock,
      ...(onStatement === undefined ? {} : { onStatement }),
    };
    this.#pool = new SessionPool({ ...this.#session, adminUrl, sessionsMax, idleMs });
  }

  /** Where the administrator connects to, which is where apps do unless they are told otherwise. */
  async server(
    signal: AbortSignal,
  ): Promise<Pick<ConnectionParts, "host" | "port" | "database" | "tls">> {
    return await this.#pool.parts(signal);
  }

  /**
   * Gives an app its schema and its roles. Resolves with the names of the statements that were needed for it.
   *
   * Throws a Conflict where one of them is somebody else's, having written nothing but the end of a removal of ours that
   * was begun.
   */
  async ensure(wanted: Provision, signal: AbortSignal): Promise<readonly string[]> {
    const { names, ledger } = wanted;
    return await this.#pool.use(async (session) => {
      const found = await this.#inspectWhole(session, wanted, signal);
      const missing = provisionPlan(found, wanted);
      const unready = databaseObjects(names, found)
        .map(({ kind, name }) => ({ kind: ledgerKind(kind), name }))
        .filter(({ kind, name }) => ledger.stateOf(kind, name) !== "Ready");
      const record = (state: "Creating" | "Ready") =>
        Promise.all(unready.map((one) => ledger.record({ ...one, state }, signal)));

      // Before it is made: a crash from here on leaves nothing that nobody knows of.
      await record("Creating");
      if (found.schema === null) await wanted.beforeSchema?.();
      const made = missing.length === 0 ? [] : await this.#provision(session, wanted, signal);
      await record("Ready");
      return made;
    }, signal);
  }

  /** Whether a role of that name and password may enter the database. */
  async logsIn(
    { user, password }: Pick<ConnectionParts, "user" | "password">,
    signal: AbortSignal,
  ): Promise<boolean> {
    const parts = { ...(await this.#pool.parts(signal)), user, password };
    const session = await Session.open({ ...this.#session, parts });
    try {
      await session.run({ name: "logIn", text: "SELECT 1" }, signal);
      return true;
    } catch (error) {
      if (isWrongPassword(error)) return false;
      throw error;
    } finally {
      await session.close();
    }
  }

  /** Gives the app's role a password. PostgreSQL is told what it keeps of it, never the password. */
  async setPassword(
    { names, owner, password }: Omit<Wanted, "adopts"> & { readonly password: string },
    signal: AbortSignal,
  ): Promise<void> {
    const verifier = scramVerifier(password, this.#random.bytes(saltBytes));
    await this.#pool.use(
      (session) =>
        session.transaction(async () => {
          const { app } = await inspect(session, names, signal);
          const what = `role ${names.appRole}`;
          if (app === null) throw new StepError("Conflict", `${what} was dropped meanwhile`);
          claim({ what, mark: parseOwnerComment(app.comment) }, owner, { adopts: false });
          const text = `ALTER ROLE ${quoted(names.appRole)} PASSWORD ${literal(verifier)}`;
          await session.run({ name: "setPassword", text }, signal);
        }, signal),
      signal,
    );
  }

  /** Sees to it that PostgREST hears of changed tables. False: it must be told, with `tellOfChanges`. */
  async tellsByItself(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#session;
    if (this.#telling === undefined || clock.monotonic() >= this.#telling.untilMs) {
      const isByItself = await this.#pool.use((session) => installReload(session, signal), signal);
      const untilMs = isByItself ? clock.monotonic() + triggersMs : Infinity;
      this.#telling = { isByItself, untilMs };
    }
    return this.#telling.isByItself;
  }

  async tellOfChanges(signal: AbortSignal): Promise<void> {
    await this.#pool.use((session) => notifyReload(session, signal), signal);
  }

  /** Takes away what the ledger names, and only what is its owner's. An empty ledger costs no statement. */
  async remove(leaving: Leaving, signal: AbortSignal): Promise<void> {
    if (!ownsDatabase(leaving.ledger)) return;
    await this.#pool.use((session) => removeOwned(session, leaving, signal), signal);
  }

  /** Keeps what the ledger names for a successor that adopts it; nobody may log in meanwhile. */
  async retain(leaving: Leaving, signal: AbortSignal): Promise<void> {
    if (!ownsDatabase(leaving.ledger)) return;
    await this.#pool.use((session) => retainOwned(session, leaving, signal), signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]();
  }

  /** A schema that was being removed, and has lost tables, or a role with its rights, goes before it is made anew. */
  async #inspectWhole(
    session: Session,
    { names, owner, ledger }: Provision,
    signal: AbortSignal,
  ): Promise<Inspection> {
    const found = await inspect(session, names, signal);
    const isGoing = found.schema !== null && ledger.stateOf("Schema", names.schema) === "Deleting";
    const isWhole =
      found.app !== null && found.anon !== null && !isRemovedInPart(found.schema?.comment);
    if (!isGoing || isWhole) return found;
    await removeOwned(session, { owner, ledger: ledgerOf(names, ledger) }, signal);
    return await inspect(session, names, signal);
  }

  /** All or nothing, from what is there within the transaction; of what only changes hands some at a time. */
  async #provision(session: Session, wanted: Wanted, signal: AbortSignal): Promise<string[]> {
    const made = new Set<string>();
    for (;;) {
      const isWhole = await session.transaction(async () => {
        const found = await inspect(session, wanted.names, signal);
        for (const statement of provisionPlan(found, wanted)) {
          await session.run(statement, signal);
          made.add(statement.name);
        }
        return !takesInPart(found);
      }, signal);
      if (isWhole) return [...made];
    }
  }
}

/** What a ledger has under these names: an app may keep a schema of another beside them. */
function ledgerOf({ schema, appRole, anonRole }: DatabaseNames, ledger: Ledger): Ledger {
  const names = new Set([schema, appRole, anonRole]);
  return {
    stateOf: (kind, name) => ledger.stateOf(kind, name),
    all: (kind) => ledger.all(kind).filter(({ name }) => names.has(name)),
    record: (owned, signal) => ledger.record(owned, signal),
    forget: (kind, name, signal) => ledger.forget(kind, name, signal),
  };
}

function ledgerKind(kind: "Schema" | "AppRole" | "AnonRole"): OwnedKind {
  return kind === "Schema" ? "Schema" : "Role";
}
