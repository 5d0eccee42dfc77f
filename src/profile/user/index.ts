import { UTC } from "../../core/timestamp.ts";
import { LATENCY_NAMES, type LatencyKind } from "../../model/latency.ts";
import { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { compileMatch, type Matcher, pattern } from "./matcher.ts";
import { readRequest, UserParser } from "./parse.ts";
import type { UserField, UserProfile } from "./schema.ts";

/**
 * A profile out of a configuration's entry.
 *
 * @throws {UserProfileError} For an expression that cannot be used.
 */
export function compileProfile(entry: UserProfile): Profile {
  const match = compileMatch(entry);
  const start = entry.multiline === undefined ? undefined : pattern(entry.multiline.start, "multiline.start");
  return {
    name: entry.name,
    title: `${entry.name} (your profile)`,
    upstream: "the configuration",
    rank: "specific",
    claimsAnywhere: true,
    tells: ["finished", "failed", "aborted"],
    figures: Object.keys(entry.fields),
    cannotTell: [],
    claims: start === undefined ? (line) => match(line) !== undefined : (line) => start.test(line.text),
    open: (context) => new UserParser(context, entry, match, start),
  };
}

/** What is wrong with one embedded test. */
export interface FailedTest {
  readonly index: number;
  readonly why: string;
}

/** Runs the embedded tests of a profile. @throws {UserProfileError} For an expression that cannot be used. */
export function runTests(entry: UserProfile): FailedTest[] {
  const match = compileMatch(entry);
  const failed: FailedTest[] = [];
  for (const [index, { line, expect }] of entry.tests.entries()) {
    const why = runTest(entry, match, line, expect);
    if (why !== undefined) failed.push({ index, why });
  }
  return failed;
}

function runTest(
  entry: UserProfile,
  match: Matcher,
  text: string,
  expected: UserProfile["tests"][number]["expect"],
): string | undefined {
  const line = new Line();
  line.setText(text);
  const values = match(line);
  if (expected === "no match") return values === undefined ? undefined : "matches";
  if (values === undefined) return "does not match";
  const record = readRequest(entry, values, line, { zone: UTC, reject: () => {} });
  const got: Partial<Record<UserField, string | number | undefined>> = {
    tokens_in: record.tokensIn,
    tokens_in_processed: record.tokensInProcessed,
    tokens_in_cached: record.tokensInCached,
    tokens_out: record.tokensOut,
    tokens_out_reasoning: record.tokensOutReasoning,
    cost_usd: record.costUsd,
    model: record.model,
    tenant: record.tenant,
    route: record.route,
    request_id: record.id,
    trace_id: record.traceId,
    finish_reason: record.finishReason,
    status: record.httpStatus,
    outcome: record.outcome,
    error: record.failure?.text,
    time: Number.isNaN(record.timeMs) ? undefined : new Date(record.timeMs).toISOString(),
  };
  for (const [field, want] of Object.entries(expected)) {
    const value = got[field as UserField] ?? latencyOf(record, field);
    const same =
      typeof want === "number"
        ? typeof value === "number" && Math.abs(value - want) <= 1e-9 * Math.max(1, Math.abs(want))
        : String(value) === want;
    if (!same) return `${field} is ${value ?? "unknown"}, not ${want}`;
  }
  return undefined;
}

function latencyOf(record: ReturnType<typeof readRequest>, field: string): number | undefined {
  const kind = LATENCY_NAMES.findIndex((name) => `${name}_ms` === field);
  return kind < 0 ? undefined : record.latencies.get(kind as LatencyKind);
}
