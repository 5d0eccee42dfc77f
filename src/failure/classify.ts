import type { FailureRecord } from "../model/record.ts";

/** The cause of a failure that no evidence of the catalogue fits. */
export const UNKNOWN_CAUSE = "unknown";

/** Names the cause of a failure: what the format itself decides, else what the catalogue finds in its text. */
export function causeOf(record: FailureRecord): string {
  return record.cause ?? UNKNOWN_CAUSE;
}
