import { parseDurationMs } from "../../core/duration.ts";
import type { LatencyKind } from "../../model/latency.ts";
import type { RequestRecord } from "../../model/record.ts";

/** Sets the durations that a span's fields hold (Rust's `{:?}`: `12.5ms`, `171.905µs`); a text that is none is refused. */
export function setDurations(
  record: RequestRecord,
  fields: ReadonlyMap<string, string>,
  kinds: ReadonlyArray<readonly [key: string, kind: LatencyKind]>,
): void {
  for (const [key, kind] of kinds) {
    const text = fields.get(key);
    if (text !== undefined) record.latencies.set(kind, parseDurationMs(text));
  }
}
