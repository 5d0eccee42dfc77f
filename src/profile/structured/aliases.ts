import { Field } from "./field.ts";

/** One meaning of a name. Of two names of one field in a line, the lower `rank` wins. */
export interface Alias {
  readonly field: Field;
  readonly rank: number;
  /** Says what it is in any company: read inside objects of unknown name too. */
  readonly distinct: boolean;
  /** An everyday word (`queue`, `total`): a duration only with a unit in the key. */
  readonly needsUnit: boolean;
  /** Milliseconds of one unit where the name implies it; 0 where it does not. */
  readonly unitMs: number;
}

/** Case, `_`, `-`, `.` and blanks do not tell names apart: `promptTokens` is `prompt_tokens` is `prompt.tokens`. */
export const squash = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

const ALIASES = new Map<string, Alias>();

function add(field: Field, names: string, about: Partial<Omit<Alias, "field">> = {}): void {
  const alias: Alias = { field, rank: 0, distinct: false, needsUnit: false, unitMs: 0, ...about };
  for (const name of names.split(/\s+/)) {
    const key = squash(name);
    if (key !== "" && !ALIASES.has(key)) ALIASES.set(key, alias);
  }
}

/** `rerank` → `rerank_ms`, `rerank_time`, `rerank_latency`, …; the bare stage is a word and needs a unit. */
function stage(field: Field, stages: string, distinct: boolean): void {
  for (const name of stages.split(/\s+/)) {
    add(field, ["time", "latency", "duration", "elapsed", "took", "wait"].map((end) => `${name}_${end}`).join(" "), {
      distinct,
    });
    add(field, name, { distinct, needsUnit: true, rank: 1 });
  }
}

// --- durations -------------------------------------------------------------------------------------------------
add(
  Field.e2e,
  `e2e e2e_latency e2e_duration e2e_time end_to_end end_to_end_latency end_to_end_duration end_to_end_time
  time_to_last_token ttlt`,
  { distinct: true },
);
add(Field.e2e, "total_latency total_duration total_time request_latency request_duration overall_latency", { rank: 1 });
add(Field.e2e, "total_response_time total_elapsed total_elapsed_time wall_time full_latency request_time", { rank: 1 });
add(Field.e2e, "total", { rank: 2, needsUnit: true });
// OpenTelemetry durations are seconds, https://opentelemetry.io/docs/specs/semconv/general/metrics/
add(
  Field.e2e,
  `gen_ai.server.request.duration gen_ai.client.operation.duration http.server.request.duration
  http.client.request.duration`,
  { rank: 1, unitMs: 1000 },
);
add(
  Field.duration,
  `duration latency elapsed elapsed_time response_time response_latency response_duration took took_time time_taken
  process_time processing_time execution_time exec_time run_time runtime service_time dur completion_time`,
);
// vLLM's spans count in seconds (vllm/tracing.py `SpanAttributes` 0.11)
add(Field.e2e, "gen_ai.latency.e2e", { distinct: true, unitMs: 1000 });
add(Field.ttft, "gen_ai.latency.time_to_first_token", { distinct: true, unitMs: 1000 });
add(Field.queue, "gen_ai.latency.time_in_queue", { distinct: true, unitMs: 1000 });
add(Field.prefill, "gen_ai.latency.time_in_model_prefill", { distinct: true, unitMs: 1000 });
add(Field.decode, "gen_ai.latency.time_in_model_decode", { distinct: true, unitMs: 1000 });
// Elastic Common Schema: `event.duration` is nanoseconds
add(Field.duration, "event.duration", { unitMs: 1e-6 });
// Google Cloud `httpRequest.latency` is text such as "0.123s"
add(Field.duration, "http_request.latency http.duration http.latency http.response_time", { rank: 1 });
add(
  Field.ttft,
  `ttft time_to_first_token ttft_latency ttft_time first_token_latency first_token_delay latency_first_token
  latency_to_first_token time_first_token llm_ttft time_to_first_chunk
  first_chunk_latency first_token_elapsed first_token_duration`,
  { distinct: true },
);
add(Field.ttft, "first_token first_token_time first_chunk first_chunk_time", {
  rank: 1,
  distinct: true,
  needsUnit: true,
});
add(Field.ttft, "gen_ai.response.time_to_first_chunk gen_ai.server.time_to_first_token", {
  distinct: true,
  unitMs: 1000,
});
add(Field.ttft, "gen_ai.client.operation.time_to_first_chunk", { distinct: true, unitMs: 1000 });
add(Field.ttfb, "ttfb time_to_first_byte first_byte_latency time_first_byte");
add(Field.ttfb, "first_byte first_byte_time", { needsUnit: true });
stage(Field.queue, "queue queueing queuing", true);
add(Field.queue, "wait_time waiting_time time_in_queue queued_time queue_delay", {
  distinct: true,
});
add(Field.queue, "wait queued", { needsUnit: true });
// Ollama's API answers count in nanoseconds (api/types.go `Metrics`)
add(Field.prefill, "prompt_eval_duration", { distinct: true, unitMs: 1e-6 });
add(Field.decode, "eval_duration", { distinct: true, unitMs: 1e-6 });
stage(Field.prefill, "prefill prompt_eval prompt_processing", true);
add(Field.prefill, "timings.prompt", { needsUnit: true });
stage(Field.decode, "decode decoding", true);
add(Field.decode, "timings.predicted", { needsUnit: true });
add(Field.tpot, "tpot time_per_output_token time_per_token mean_tpot avg_tpot tpot_mean tpot_avg", { distinct: true });
add(Field.tpot, "gen_ai.server.time_per_output_token", { distinct: true, unitMs: 1000 });
add(Field.tpot, "ms_per_token ms_per_output_token", { distinct: true, unitMs: 1 });
add(
  Field.itl,
  `itl inter_token_latency intertoken_latency inter_token_time mean_itl avg_itl itl_mean itl_avg time_between_tokens tbt
  inter_chunk_latency`,
  { distinct: true },
);
stage(Field.upstream, "llm upstream upstream_llm llm_call llm_api model_call provider generation", false);
add(Field.upstream, "model_latency api_latency");
stage(Field.inference, "inference model_inference", false);
stage(Field.retrieval, "retrieval retrieve retriever vector_search search vector_db vectordb knn vector_store", false);
stage(Field.rerank, "rerank reranking reranker", false);
stage(Field.embedding, "embedding embeddings embed query_embedding embed_query", false);
stage(Field.tool, "tool tool_call tool_execution", false);

// --- tokens, money, counts -------------------------------------------------------------------------------------
add(
  Field.tokensIn,
  `prompt_tokens input_tokens tokens_in in_tokens prompt_token_count input_token_count num_prompt_tokens
  num_input_tokens n_prompt_tokens tokens_prompt tokens_input prompt_eval_count prompt_token input_token
  gen_ai.usage.prompt_tokens gen_ai.usage.input_tokens llm.token_count.prompt token_count_in token_count.prompt
  token_count.input usage.input usage.prompt token_usage.prompt token_usage.input timings.prompt_n input_tokens_count
  prompt_tokens_count`,
  { distinct: true },
);
add(
  Field.tokensOut,
  `completion_tokens output_tokens tokens_out out_tokens generated_tokens generation_tokens completion_token_count
  output_token_count candidates_token_count num_generated_tokens num_output_tokens num_completion_tokens
  n_generated_tokens tokens_completion tokens_output tokens_generated eval_count completion_token output_token
  gen_ai.usage.completion_tokens gen_ai.usage.output_tokens llm.token_count.completion token_count_out
  token_count.completion token_count.output usage.output usage.completion token_usage.completion token_usage.output
  timings.predicted_n output_tokens_count completion_tokens_count`,
  { distinct: true },
);
add(
  Field.tokensCached,
  `cached_tokens cached_input_tokens cached_prompt_tokens tokens_cached prompt_cache_hit_tokens cache_hit_tokens
  prompt_tokens_details.cached_tokens input_tokens_details.cached_tokens input_token_details.cache_read
  gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_read_input_tokens cached_content_token_count
  cache_read_tokens llm.token_count.prompt_details.cache_read usage.cached tokens.cached`,
  { distinct: true },
);
add(Field.tokensCached, "cache_read_input_tokens", { distinct: true, rank: 1 });
add(Field.tokensCacheWritten, "cache_creation_input_tokens", { distinct: true });
add(
  Field.tokensReasoning,
  `reasoning_tokens reasoning_output_tokens thinking_tokens tokens_reasoning completion_tokens_details.reasoning_tokens
  output_tokens_details.reasoning_tokens output_token_details.reasoning gen_ai.usage.reasoning.output_tokens
  thoughts_token_count llm.token_count.completion_details.reasoning usage.reasoning tokens.reasoning`,
  { distinct: true },
);
add(
  Field.tokensTotal,
  `total_tokens tokens_total total_token_count llm.usage.total_tokens gen_ai.usage.total_tokens llm.token_count.total
  token_count.total usage.total`,
  { distinct: true },
);
add(
  Field.cost,
  `cost_usd usd_cost cost_in_usd total_cost_usd request_cost_usd llm_cost_usd price_usd cost_dollars gen_ai.usage.cost
  cost total_cost request_cost llm_cost response_cost usage.cost cost.total cost.usd cost.total_usd`,
);
add(Field.retries, "retries retry_count num_retries retries_count attempted_retries number_of_retries");
add(Field.attempts, "attempts num_attempts attempt_count total_attempts");

// --- outcome ---------------------------------------------------------------------------------------------------
add(
  Field.status,
  `status_code http_status http_status_code http.status http.response.status_code http.response.status response_status
  response_status_code response_code res.status_code res.status response.status_code http_code http_request.status
  upstream_status_code`,
);
add(Field.status, "status", { rank: 1 });
add(Field.status, "outcome result_status event.outcome grpc.code grpc_code grpc.status", { rank: 2 });
add(Field.success, "success ok succeeded is_success");
add(Field.finishReason, "finish_reason stop_reason finish_reasons gen_ai.response.finish_reasons done_reason");
add(Field.finishReason, "gen_ai.completion.0.finish_reason llm.finish_reason");
add(Field.stream, "stream streaming is_stream is_streaming streamed gen_ai.request.stream llm.is_streaming");
add(Field.error, "error_message error_msg err_msg error.message err.message exception.message exception.value");
add(Field.error, "error err exception", { rank: 1 });
add(Field.error, "error_detail error.detail error_details error_description error_str error.reason", { rank: 2 });
add(Field.error, "record.exception.value failure_message exc_message status_message", { rank: 3 });
add(Field.errorKind, "error_kind error.kind error_type error.type err.kind error_class error.class err_kind");
add(Field.errorKind, "err.type exception.type exc_type error_name error.name err.name record.exception.type", {
  rank: 1,
});
add(Field.errorKind, "failure_reason error_category error_reason failure_kind", { rank: 2 });
add(Field.errorCode, "error_code error.code err.code err_code");
add(
  Field.stack,
  `stack stacktrace stack_trace exc_info exc_text traceback error.stack error.stack_trace err.stack
  exception.stacktrace exception.traceback record.exception.traceback error.stacktrace`,
);

// --- who and where ---------------------------------------------------------------------------------------------
// the model that was asked for names the series; the answer may carry a dated variant of it
add(
  Field.model,
  `model model_name model_id llm_model llm.model llm.model_name gen_ai.request.model request_model requested_model
  request.model model.name model.id ai_model served_model model_group`,
);
add(
  Field.model,
  "gen_ai.response.model response_model response.model deployment deployment_name embedding.model_name",
  {
    rank: 2,
  },
);
add(Field.tenant, "tenant tenant_id tenant_name tenant.id tenant.name identity.tenant_id app.tenant x_tenant_id");
add(Field.tenant, "team team_id team_name team.id", { rank: 1 });
add(Field.tenant, "org org_id organization organization_id org_name organization.id org.id", { rank: 2 });
add(Field.tenant, "customer customer_id customer_name account_id workspace_id", { rank: 3 });
add(Field.service, "service_name service.name service app_name app", { rank: 0 });
add(Field.route, "route http.route http_route endpoint api_route");
add(
  Field.route,
  `path url.path request_path http.path http.target http_path req.path request.path uri request_uri req.url request.url
  request.uri http.url http_url url url.full request_url http_request.request_url http.request.path`,
  { rank: 1 },
);
// only as a request line: `POST /v1/chat HTTP/1.1`
add(Field.route, "request request_line", { rank: 2 });
add(
  Field.method,
  `method http.method http_method request_method http.request.method req.method request.method verb
  http_request.request_method`,
);
add(
  Field.requestId,
  `request_id req_id req.id request.id x_request_id http.request.id http.request_id gen_ai.request.id headers.x-request-id
  req.headers.x-request-id`,
);
add(Field.requestId, "call_id correlation_id x_correlation_id", { rank: 1 });
add(Field.requestId, "gen_ai.response.id response_id completion_id", { rank: 2 });
add(Field.traceId, "trace_id trace.id dd.trace_id otel_trace_id logging.googleapis.com/trace");
add(Field.traceId, "trace", { rank: 1 });

// --- retrieval and tools ---------------------------------------------------------------------------------------
add(
  Field.scores,
  "scores retrieval_scores retrieval.scores similarity_scores doc_scores document_scores relevance_scores",
);
add(
  Field.documents,
  "documents docs results hits matches chunks retrieved_documents gen_ai.retrieval.documents sources",
);
add(Field.docTenants, "doc_tenants document_tenants result_tenants chunk_tenants retrieved_tenants source_tenants");
add(
  Field.collection,
  "collection collection_name db.collection.name index index_name vector_index knowledge_base kb gen_ai.data_source.id",
);
add(Field.collection, "data_source_id", { rank: 1 });
add(Field.toolName, "tool tool_name tool.name function_name gen_ai.tool.name mcp.tool.name mcp_tool_name");
add(Field.gpu, "gpu gpu_id gpu_index cuda_device");
add(Field.rule, "rule guardrail guardrail_name detector violation policy guardrail.rule guardrail.name");
add(Field.rule, "category reason", { rank: 1 });

// --- the line itself -------------------------------------------------------------------------------------------
add(Field.level, "level lvl log.level log_level loglevel levelname severity severity_text level_name");
add(Field.level, "record.level.name level.name", { rank: 1 });
add(Field.levelNumber, "levelno level_number record.level.no");
add(Field.syslogLevel, "priority syslog_level syslog.severity.code");
add(Field.message, "msg message record.message short_message log_message");
add(Field.event, "event event_name event.name event.action event_type");
add(Field.event, "action", { rank: 3 });
add(Field.event, "operation op step stage span_name", { rank: 5 });
add(Field.event, "type", { rank: 7 });
add(
  Field.time,
  `time ts timestamp @timestamp asctime datetime date_time record.time.timestamp event_time log_time eventTime
  timestamp_seconds`,
);
add(Field.time, "t date created created_at record.time.repr", { rank: 2 });
add(Field.pid, "pid hostname");
add(Field.target, "target");

/** What a whole name means, its unit already cut off. */
export function aliasOf(name: string): Alias | undefined {
  return ALIASES.get(squash(name));
}
