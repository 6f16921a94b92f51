/** A rule that could not be evaluated. Its message is the one the real server shows. */
export class CelError extends Error {
  readonly code = "CEL_EVALUATION";

  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "CelError";
  }
}

/** No function takes arguments of these types. */
export class NoSuchOverload extends CelError {
  constructor() {
    super("no such overload");
    this.name = "NoSuchOverload";
  }
}

/** A rule that would run for too long. */
export class CostExceeded extends Error {
  readonly code = "CEL_COST_EXCEEDED";

  constructor() {
    super("operation cancelled: actual cost limit exceeded");
    this.name = "CostExceeded";
  }
}
