import { Latency, type LatencyKind } from "../../model/latency.ts";

/** What a key of a structured log can mean. Durations are {@link Field.duration} with their kind. */
export const Field = {
  ignored: 0,
  duration: 1,
  tokensIn: 2,
  tokensInCached: 3,
  tokensOut: 4,
  tokensOutReasoning: 5,
  cost: 6,
  status: 7,
  model: 8,
  tenant: 9,
  tenantWeak: 10,
  route: 11,
  method: 12,
  requestId: 13,
  traceId: 14,
  finishReason: 15,
  stream: 16,
  error: 17,
  errorKind: 18,
  errorText: 19,
  stack: 20,
  scores: 21,
  collection: 22,
  tool: 23,
  level: 24,
  pythonLevel: 25,
  message: 26,
  event: 27,
  time: 28,
  docTenants: 29,
  retries: 30,
  gpu: 31,
  rule: 32,
  modelWeak: 33,
  tokensInProcessed: 34,
} as const;
export type Field = (typeof Field)[keyof typeof Field];

export interface Meaning {
  readonly field: Field;
  /** Kind of a duration; undefined otherwise. */
  readonly kind: LatencyKind | undefined;
  /** Milliseconds in one unit of the value, when the key names its unit; 0 when it does not. */
  readonly unitMs: number;
  /** True for a figure that only a call of a model has: what tells a model request from any other line. */
  readonly llm: boolean;
  /** An end-to-end duration by a less telling name, overridden by an explicit one. */
  readonly weak: boolean;
}

const UNIT_SUFFIXES: ReadonlyArray<readonly [suffix: string, ms: number]> = [
  ["_milliseconds", 1],
  ["_millis", 1],
  ["_msecs", 1],
  ["_msec", 1],
  ["_ms", 1],
  ["_microseconds", 1e-3],
  ["_micros", 1e-3],
  ["_usec", 1e-3],
  ["_us", 1e-3],
  ["_nanoseconds", 1e-6],
  ["_nanos", 1e-6],
  ["_ns", 1e-6],
  ["_seconds", 1000],
  ["_secs", 1000],
  ["_sec", 1000],
  ["_s", 1000],
];

const STEMS: ReadonlyArray<readonly [kind: LatencyKind, names: string]> = [
  [Latency.ttft, "ttft time_to_first_token first_token time_to_first_chunk first_chunk llm_ttft first_token_cost"],
  [Latency.ttfb, "ttfb time_to_first_byte first_byte"],
  [Latency.queue, "queue queued queueing queuing queue_wait wait waiting time_in_queue scheduling_delay"],
  [Latency.prefill, "prefill prompt_eval prompt_processing prompt_eval_duration"],
  [Latency.decode, "decode decoding generation generate eval"],
  [Latency.tpot, "tpot time_per_output_token time_per_token mean_tpot avg_tpot per_output_token"],
  [Latency.itl, "itl inter_token mean_itl avg_itl avg_inter_token inter_token_avg"],
  [
    Latency.retrieval,
    "retrieval retrieve retriever search vector_search vectordb_query vector_db similarity_search knn",
  ],
  [Latency.rerank, "rerank reranker reranking rerankers"],
  [Latency.embedding, "embedding embed embeddings embedder query_embedding"],
  [Latency.tool, "tool tool_call tool_execution"],
  [
    Latency.upstream_llm,
    "llm upstream upstream_llm llm_call llm_api model_call provider llm_service upstream_response",
  ],
  [Latency.inference, "inference model_inference"],
  [Latency.tokenization, "tokenization tokenize tokenizer"],
  [Latency.validation, "validation validate"],
  [Latency.model_load, "model_load load model_loading load_model"],
];
const STEM_ENDINGS = ["", "_time", "_latency", "_duration", "_elapsed", "_delay", "_took"];

const E2E =
  "e2e e2e_latency e2e_time e2e_duration end_to_end end_to_end_latency end_to_end_duration end_to_end_time request_duration request_latency request_time total_time total_duration total_latency response_time responsetime http_duration http_server_duration";
const E2E_WEAK =
  "duration latency elapsed elapsed_time took time_taken processing_time response_duration response_latency event_duration";

const names = (field: Field, list: string, llm = false): Array<readonly [string, Omit<Meaning, "unitMs">]> =>
  list.split(" ").map((name) => [name, { field, kind: undefined, llm, weak: false }] as const);

const PLAIN: ReadonlyMap<string, Omit<Meaning, "unitMs">> = new Map([
  ...names(
    Field.tokensIn,
    "tokens_in in_tokens input_tokens input_token prompt_tokens prompt_token prompt_token_count input_token_count n_prompt_tokens num_prompt_tokens num_input_tokens n_input_tokens tokens_prompt tokens_input input_tokens_total prompt_tokens_total usage_input usage_prompt input_length prompt_token_num",
    true,
  ),
  ...names(
    Field.tokensOut,
    "tokens_out out_tokens output_tokens output_token completion_tokens completion_token completion_token_count output_token_count generated_tokens n_generated_tokens num_generated_tokens num_output_tokens n_output_tokens tokens_completion tokens_output tokens_generated candidates_token_count generation_tokens usage_output usage_completion num_completion_tokens",
    true,
  ),
  ...names(
    Field.tokensInCached,
    "cached_tokens cached_input_tokens cache_read_input_tokens tokens_cached prompt_cache_hit_tokens prompt_tokens_cached cached_prompt_tokens prompt_tokens_details_cached_tokens input_tokens_details_cached_tokens cached_content_token_count cache_read_tokens usage_cache_read_input_tokens cached_token cache_read_input",
    true,
  ),
  ...names(
    Field.tokensOutReasoning,
    "reasoning_tokens reasoning_output_tokens thinking_tokens completion_tokens_details_reasoning_tokens output_tokens_details_reasoning_tokens thoughts_token_count usage_reasoning_output_tokens",
    true,
  ),
  ...names(Field.tokensInProcessed, "prompt_tokens_processed tokens_in_processed", true),
  ...names(
    Field.cost,
    "cost_usd usd_cost cost total_cost total_cost_usd response_cost price_usd cost_in_usd request_cost usage_cost cost_dollars",
    true,
  ),
  ...names(
    Field.status,
    "status status_code statuscode http_status http_status_code http_code response_status response_code response_status_code http_response_status_code res_status_code res_statuscode res_status code",
  ),
  ...names(
    Field.model,
    "model model_name model_id modelname llm_model request_model gen_ai_request_model model_group deployment served_model ai_model",
    true,
  ),
  ...names(Field.modelWeak, "response_model gen_ai_response_model", true),
  ...names(Field.tenant, "tenant tenant_id tenant_name tenantid identity_tenant_id x_tenant_id"),
  ...names(
    Field.tenantWeak,
    "organization organization_id org org_id team team_id team_alias customer customer_id account_id customer_name org_name",
  ),
  ...names(
    Field.route,
    "route path endpoint uri url_path url http_route request_path http_target request_uri req_url request_url http_path url_original http_url target_path",
  ),
  ...names(Field.method, "method http_method request_method req_method http_request_method verb"),
  ...names(
    Field.requestId,
    "request_id requestid req_id reqid x_request_id correlation_id correlationid call_id http_request_id x_correlation_id gen_ai_response_id completion_id",
  ),
  ...names(Field.traceId, "trace_id traceid trace dd_trace_id logging_googleapis_com_trace otel_trace_id"),
  ...names(
    Field.finishReason,
    "finish_reason finishreason stop_reason gen_ai_response_finish_reasons finish_reasons done_reason finish",
    true,
  ),
  ...names(Field.stream, "stream streaming is_stream streamed gen_ai_request_stream"),
  ...names(Field.error, "error err exception exc"),
  ...names(
    Field.errorKind,
    "error_kind error_type error_code error_class err_type err_code errorkind errortype errorcode err_kind exception_type exc_type error_name err_name failure_reason error_reason",
  ),
  ...names(
    Field.errorText,
    "error_message error_msg err_msg err_message error_detail error_details exception_message errormessage error_description error_str reason exc_message",
  ),
  ...names(
    Field.stack,
    "stack stacktrace stack_trace exc_info traceback error_stack err_stack exception_stacktrace error_stack_trace exc_text",
  ),
  ...names(Field.scores, "scores retrieval_scores similarity_scores doc_scores document_scores relevance_scores"),
  ...names(
    Field.collection,
    "collection collection_name index index_name vector_index kb knowledge_base data_source_id",
  ),
  ...names(Field.tool, "tool tool_name function_name mcp_tool_name gen_ai_tool_name"),
  ...names(Field.level, "level lvl severity loglevel log_level levelname record_level_name severity_text level_name"),
  ...names(Field.pythonLevel, "levelno record_level_no"),
  ...names(Field.message, "msg message record_message short_message log_message @message"),
  ...names(Field.event, "event event_name event_type eventname"),
  ...names(Field.time, "time ts timestamp @timestamp asctime datetime record_time_timestamp @t eventtime date"),
  ...names(Field.docTenants, "doc_tenants document_tenants retrieved_tenants chunk_tenants"),
  ...names(Field.retries, "retries retry_count num_retries attempted_retries retries_count"),
  ...names(Field.gpu, "gpu gpu_id gpu_index device_id cuda_device"),
  ...names(Field.rule, "rule guardrail guard policy detector violation category"),
  ...names(
    Field.ignored,
    "record_elapsed_seconds record_elapsed_repr record_elapsed text record_line record_process_id record_thread_id record_level_icon timeout timeout_ms timeout_s max_tokens backoff_ms retry_after retry_after_ms",
  ),
]);

const DURATIONS: ReadonlyMap<string, Omit<Meaning, "unitMs">> = new Map<string, Omit<Meaning, "unitMs">>([
  ...E2E.split(" ").map(
    (name) => [name, { field: Field.duration, kind: Latency.e2e, llm: false, weak: false }] as const,
  ),
  ...E2E_WEAK.split(" ").map(
    (name) => [name, { field: Field.duration, kind: Latency.e2e, llm: false, weak: true }] as const,
  ),
  ...STEMS.flatMap(([kind, stems]) =>
    stems
      .split(" ")
      .flatMap((stem) =>
        STEM_ENDINGS.map(
          (ending) =>
            [
              stem + ending,
              { field: Field.duration, kind, llm: kind !== Latency.tool && kind !== Latency.model_load, weak: false },
            ] as const,
        ),
      ),
  ),
]);
/** Stems that are everyday words: a duration only with an ending (`search_time`) or a unit (`search_ms`). */
const WORDS: ReadonlySet<string> = new Set(
  STEMS.flatMap(([, stems]) => stems.split(" ")).filter(
    (stem) =>
      ![
        "ttft",
        "ttfb",
        "tpot",
        "itl",
        "time_to_first_token",
        "time_per_output_token",
        "time_per_token",
        "time_to_first_byte",
        "time_to_first_chunk",
      ].includes(stem),
  ),
);

/** Objects that say nothing about the keys in them: `usage.prompt_tokens` is `prompt_tokens`, `retrieval.latency_ms` is not `latency_ms`. */
const NEUTRAL: ReadonlySet<string> = new Set(
  "record extra usage metrics metric timings timing stats statistics data fields attributes attrs attr context ctx payload meta metadata request req response res resp http http_request http_response properties props params details body result results output llm_output info gen_ai gen_ai_usage log labels event message msg performance perf tokens token_usage usage_metadata usagemetadata latency latencies duration durations time @fields args fields_json".split(
    " ",
  ),
);

/** Units that a key implies without naming them. */
const IMPLIED_MS: Readonly<Record<string, number>> = {
  event_duration: 1e-6,
  time_to_first_chunk: 1000,
  gen_ai_response_time_to_first_chunk: 1000,
};

/** `promptTokens`, `prompt-tokens`, `Prompt.Tokens` → `prompt_tokens`. */
export function normalise(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9@]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toLowerCase();
}

const meaning = (base: Omit<Meaning, "unitMs">, unitMs: number): Meaning => ({ ...base, unitMs });

/** @param path Normalised keys from the outermost object inwards. */
export function meaningOf(path: readonly string[]): Meaning | undefined {
  for (let from = 0; from < path.length; from++) {
    if (from > 0 && !NEUTRAL.has(path[from - 1] as string)) return undefined;
    const found = lookUp(path.slice(from).join("_"), path[from - 1]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function lookUp(name: string, container: string | undefined): Meaning | undefined {
  const plain = PLAIN.get(name);
  if (plain !== undefined) return meaning(plain, 0);
  // `tokens: {in, out}`, `latency: {ttft, e2e, total}`
  if (container !== undefined && /^(?:tokens|usage|token_usage)$/.test(container)) {
    const tokens = {
      in: Field.tokensIn,
      input: Field.tokensIn,
      prompt: Field.tokensIn,
      out: Field.tokensOut,
      output: Field.tokensOut,
      completion: Field.tokensOut,
      cached: Field.tokensInCached,
      reasoning: Field.tokensOutReasoning,
    }[name];
    if (tokens !== undefined) return { field: tokens, kind: undefined, unitMs: 0, llm: true, weak: false };
  }
  const implied = IMPLIED_MS[name];
  if (implied !== undefined) {
    const base = DURATIONS.get(name) ?? DURATIONS.get(name.replace("gen_ai_response_", ""));
    if (base !== undefined) return meaning(base, implied);
  }
  const exact = DURATIONS.get(name);
  if (exact !== undefined && !WORDS.has(name)) return meaning(exact, 0);
  for (const [suffix, ms] of UNIT_SUFFIXES) {
    if (!name.endsWith(suffix)) continue;
    const stem = name.slice(0, -suffix.length);
    const base = DURATIONS.get(stem) ?? (stem === "total" ? DURATIONS.get("total_time") : undefined);
    return base === undefined ? undefined : meaning(base, ms);
  }
  return undefined;
}
