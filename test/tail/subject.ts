/** What is put through the scenarios. */
export interface Subject {
  readonly name: string;
  /** Begins to follow; called again after {@link Subject.stop} and {@link Subject.kill}. */
  start(options: StartOptions): Promise<void>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Ends it orderly. */
  stop(): Promise<void>;
  /** Ends it as SIGKILL does: what was not committed is gone. */
  kill(): Promise<void>;
  /** How often each line was delivered, over all runs. */
  lines(): ReadonlyMap<string, number>;
}

export interface StartOptions {
  /** Absolute. */
  readonly folder: string;
  /** Relative to the folder. */
  readonly patterns: readonly string[];
  readonly exclude: readonly string[];
  readonly startAt: "beginning" | "end";
}
