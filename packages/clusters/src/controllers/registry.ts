// Who is expected to report, and whom deletions wait for. Nobody must be registered to report.

import { RestError, validationFailed, type JsonObject } from "@keelson/base";
import { requireController, requireWriter, type Caller } from "../access/access.ts";
import type { Deletions } from "../deletion/deletions.ts";
import { writing, type Lifecycle } from "../lifecycle.ts";
import { ringForStatuses } from "../loops/status-bell.ts";
import type { ControllerRegistration } from "../schema.ts";
import {
  listControllers,
  registerController,
  retireController,
  type ControllerRow,
} from "../sql/controllers.ts";

/** Every method throws a `RestError` for whatever the caller is refused. */
export class Registry {
  readonly #lifecycle: Lifecycle;
  readonly #deletions: Deletions;

  constructor(lifecycle: Lifecycle, deletions: Deletions) {
    this.#lifecycle = lifecycle;
    this.#deletions = deletions;
  }

  async list(caller: Caller, signal: AbortSignal): Promise<JsonObject> {
    requireController(caller);
    const rows = await this.#lifecycle.database.run(listControllers, undefined, signal);
    return { controllers: rows.map(answer) };
  }

  async register(
    caller: Caller,
    name: string,
    { kinds, platforms = [], finalizer = false }: ControllerRegistration,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    this.#requireName(caller, name);
    const row = {
      name,
      kinds: [...new Set(kinds)].sort(),
      platforms: [...new Set(platforms.map((platform) => platform.toLowerCase()))].sort(),
      finalizer,
    };
    await writing(this.#lifecycle, (sql) => sql.run(registerController, row), signal);
    ringForStatuses(this.#lifecycle.outbox);
    return answer({ ...row, retired_at: null });
  }

  /** It is expected no more, until it reports again; deletions do not wait for it. */
  async retire(caller: Caller, name: string, signal: AbortSignal): Promise<void> {
    this.#requireName(caller, name);
    const [known] = await writing(
      this.#lifecycle,
      (sql) => sql.run(retireController, name),
      signal,
    );
    if (known === undefined) throw new RestError("RESOURCE_NOT_FOUND", "no such controller");
    ringForStatuses(this.#lifecycle.outbox);
    // It has retired, whatever comes now. Should this fail, the next pass does it.
    try {
      await this.#deletions.finishAll(signal);
    } catch (error) {
      this.#lifecycle.log.warn({ controller: name, error }, "deletions not finished yet");
    }
  }

  #requireName(caller: Caller, name: string): void {
    requireController(caller);
    requireWriter(caller);
    this.#lifecycle.access.requireName(caller, name);
    if (name.trim() === "" || name.length > 255 || name.includes("\0")) {
      throw validationFailed({ field: "name", message: "must have 1 to 255 characters" });
    }
  }
}

function answer({ name, kinds, platforms, finalizer, retired_at }: ControllerRow): JsonObject {
  return {
    name,
    kinds,
    platforms,
    finalizer,
    ...(retired_at === null ? {} : { retired_at: retired_at.toISOString() }),
  };
}
