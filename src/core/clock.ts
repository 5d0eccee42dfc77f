/** Time as an argument: the same code runs live, in tests and in a replay of last week. */
export interface Clock {
  /** Wall time, milliseconds since the Unix epoch. May jump backwards. */
  nowMs(): number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
