// A controller before a backend in memory, for the length of a test.

import { seededRandom } from "@keelson/base";
import { ManualClock, RecordingLog, RecordingMetrics } from "@keelson/base/testing";
import { createController, type Controller } from "../controller.ts";
import type { ControllerOptions } from "../options.ts";
import { ready } from "../results.ts";
import { FakeBackend } from "./fake-backend.ts";

/** A backend, a clock that stands still, and controllers that are stopped when the test ends. */
export class ControllerBed implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly random = seededRandom("sdk");
  readonly backend = new FakeBackend({ clock: this.clock, random: this.random });
  readonly log = new RecordingLog();
  readonly metrics = new RecordingMetrics();
  readonly #controllers: Controller[] = [];

  async start(options: Partial<ControllerOptions> = {}): Promise<Controller> {
    const controller = createController({
      name: "dns",
      kinds: ["cluster"],
      transport: this.backend.transport,
      api: this.backend.api,
      reconcile: () => ready(),
      clock: this.clock,
      random: this.random,
      log: this.log,
      metrics: this.metrics,
      ...options,
    });
    this.#controllers.push(controller);
    await controller.start();
    await this.settle();
    return controller;
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await this.clock.settle();
  }

  events(result: string): number {
    return this.metrics.value("keelson_sdk_events_total", { result }) ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
  }
}
