import { Latency, type LatencyKind } from "../../model/latency.ts";
import type { RejectReason, RequestRecord } from "../../model/record.ts";
import { pathOf } from "../access-line.ts";
import { DURATION_FIELDS, Field } from "./field.ts";
import { numberOf } from "./figure.ts";
import type { LineFields } from "./line-fields.ts";
import { habitualUnitMs } from "./logger.ts";

const MAX_SCORES = 1000;
const MAX_LABEL_CHARS = 200;

/** The kind of each duration field; `duration` has none of its own: it is the end-to-end time of what the line is about. */
export const LATENCY_OF_FIELD: readonly LatencyKind[] = [
  Latency.e2e,
  Latency.e2e,
  Latency.ttft,
  Latency.ttfb,
  Latency.queue,
  Latency.prefill,
  Latency.decode,
  Latency.tpot,
  Latency.itl,
  Latency.upstream_llm,
  Latency.inference,
  Latency.retrieval,
  Latency.rerank,
  Latency.embedding,
  Latency.tool,
];

/**
 * Gives every bare duration the unit that its logger means; those that have none are refused and counted. Called for
 * lines whose figures are used, and for no others.
 */
export function settleUnits(fields: LineFields, reject: (reason: RejectReason) => void): void {
  for (let bits = fields.unitless; bits !== 0; bits &= bits - 1) {
    const field = (31 - Math.clz32(bits & -bits)) as Field;
    const value = fields.number(field) ?? Number.NaN;
    const unitMs = habitualUnitMs(fields, value);
    if (unitMs === 0) {
      reject("unknown-unit");
      fields.drop(field);
    } else fields.settle(field, unitMs >= 1 ? value * unitMs : value / Math.round(1 / unitMs));
  }
}

/** Copies all durations of the line; `duration` becomes `kind`, unless the line has that kind by name. */
export function addLatencies(fields: LineFields, record: RequestRecord): void {
  const { latencies } = record;
  let bits = fields.durations;
  if ((bits & 3) === 3) bits &= ~2;
  for (; bits !== 0; bits &= bits - 1) {
    const field = 31 - Math.clz32(bits & -bits);
    if (field < DURATION_FIELDS) latencies.set(LATENCY_OF_FIELD[field] as LatencyKind, fields.number(field as Field));
  }
}

export function addTokens(fields: LineFields, record: RequestRecord): void {
  record.tokensIn = fields.number(Field.tokensIn);
  record.tokensOut = fields.number(Field.tokensOut);
  const cached = fields.number(Field.tokensCached);
  record.tokensInCached = cached;
  record.tokensOutReasoning = fields.number(Field.tokensReasoning);
  record.costUsd = fields.number(Field.cost);
  // Anthropic's own usage object, the only one that always has both: its `input_tokens` are those no cache held
  // (docs.anthropic.com, prompt caching). Where a total is given, the writer has added them up itself.
  const written = fields.number(Field.tokensCacheWritten);
  if (written !== undefined && cached !== undefined && record.tokensIn !== undefined) {
    const own =
      fields.key(Field.tokensCached) === "cache_read_input_tokens" && fields.key(Field.tokensIn) === "input_tokens";
    if (own && !fields.has(Field.tokensTotal)) record.tokensIn += cached + written;
  }
}

/** Retrieval scores that the line lists, as numbers or inside its documents; undefined when it lists none. */
export function scoresOf(fields: LineFields): number[] | undefined {
  const listed = fields.value(Field.scores) ?? fields.value(Field.documents);
  const list = typeof listed === "string" && listed.startsWith("[") ? parseList(listed) : listed;
  if (!Array.isArray(list)) return undefined;
  const scores: number[] = [];
  for (const item of list as unknown[]) {
    const score: unknown = typeof item === "object" && item !== null ? (item as { score?: unknown }).score : item;
    const number = typeof score === "number" ? score : typeof score === "string" ? numberOf(score) : Number.NaN;
    if (Number.isFinite(number)) scores.push(number);
    if (scores.length >= MAX_SCORES) break;
  }
  return scores.length === 0 ? undefined : scores;
}

/** A list that was written as text: an attribute, or a value of `key=[…]`. */
function parseList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .slice(1, text.endsWith("]") ? -1 : undefined)
      .split(/[\s,]+/)
      .slice(0, MAX_SCORES);
  }
}

/** A tenant other than the request's own among the documents that were found; undefined when there is none. */
export function strangeTenant(fields: LineFields, tenant: string | undefined): string | undefined {
  if (tenant === undefined) return undefined;
  const tenants = fields.value(Field.docTenants);
  if (Array.isArray(tenants))
    return tenants.find((found): found is string => typeof found === "string" && found !== tenant);
  const documents = fields.value(Field.documents);
  if (!Array.isArray(documents)) return undefined;
  for (const document of documents as unknown[]) {
    if (typeof document !== "object" || document === null) continue;
    const { tenant_id: id, tenant: name } = document as { tenant_id?: unknown; tenant?: unknown };
    const found = id ?? name;
    if (typeof found === "string" && found !== tenant) return found;
  }
  return undefined;
}

const label = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= MAX_LABEL_CHARS ? text : text.slice(0, MAX_LABEL_CHARS);

const REQUEST_LINE = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) (\/\S{0,2000})/;

/** The HTTP method, in capitals, by itself or in front of the path (`POST /v1/chat HTTP/1.1`). */
export function methodOf(fields: LineFields): string | undefined {
  return fields.text(Field.method)?.toUpperCase() ?? REQUEST_LINE.exec(fields.text(Field.route) ?? "")?.[1];
}

/** Path of the request, without scheme, host and query; undefined when the field holds something else. */
export function routeOf(fields: LineFields): string | undefined {
  const text = fields.text(Field.route);
  if (text === undefined) return undefined;
  if (text.charCodeAt(0) === 47) return label(pathOf(text));
  if (text.startsWith("http://") || text.startsWith("https://")) {
    const slash = text.indexOf("/", 8);
    return slash < 0 ? "/" : label(pathOf(text.slice(slash)));
  }
  const line = REQUEST_LINE.exec(text);
  if (line !== null) return label(pathOf(line[2] ?? ""));
  // `route` and `endpoint` are names as often as paths; a `path` or `url` that is no path is a file or worse
  return fields.rank(Field.route) % 10 === 0 && !text.includes(" ") ? label(pathOf(text)) : undefined;
}

/** Trace id: the last part of a resource name such as Google Cloud's `projects/x/traces/ID`. */
function traceOf(fields: LineFields): string | undefined {
  const text = fields.text(Field.traceId);
  return text === undefined || !text.includes("/") ? text : text.slice(text.lastIndexOf("/") + 1);
}

function finishOf(fields: LineFields): string | undefined {
  const value = fields.value(Field.finishReason);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === "string" && first !== "" ? first : undefined;
}

export function streamOf(fields: LineFields): boolean | undefined {
  const value = fields.value(Field.stream);
  if (typeof value === "boolean") return value;
  return value === "true" || value === "True" ? true : value === "false" || value === "False" ? false : undefined;
}

/** Copies who, what and where. */
export function addLabels(fields: LineFields, record: RequestRecord): void {
  record.id = fields.text(Field.requestId);
  record.traceId = traceOf(fields);
  record.model = label(fields.text(Field.model));
  record.tenant = label(fields.text(Field.tenant));
  record.service = label(fields.text(Field.service));
  record.route = routeOf(fields);
  record.finishReason = finishOf(fields);
  record.stream = streamOf(fields);
  record.gpu = fields.text(Field.gpu);
  const retries = fields.number(Field.retries);
  const attempts = fields.number(Field.attempts);
  if (retries !== undefined && retries >= 0) record.retries = retries;
  else if (attempts !== undefined && attempts >= 1) record.retries = attempts - 1;
}
