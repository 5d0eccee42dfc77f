/**
 * A mistake the user can mend: printed as one line (what, where, how to mend), never with a stack.
 * `exitCode` 1 = the work failed, 2 = wrong usage or configuration.
 */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly exitCode: 1 | 2;
  constructor(message: string, options: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 1;
  }
}
