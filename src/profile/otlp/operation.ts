/** What a span, or an event about one, did. */
export type Operation =
  /** One call of a model: a request. */
  | "inference"
  /** An agent or workflow around calls: it may repeat their usage, so nothing of it is counted. */
  | "container"
  | "tool"
  | "retrieval"
  | "rerank"
  | "other";

/**
 * Words for operations, lower case.
 *
 * @see OpenTelemetry GenAI semantic conventions 1.41 `gen_ai.operation.name`; OpenLLMetry 93429cfb9 `llm.request.type`,
 * `traceloop.span.kind`; OpenInference `openinference.span.kind`
 */
const OPERATIONS = new Map<string, Operation>([
  ...["chat", "generate_content", "text_completion", "completion", "embeddings", "embedding", "llm", "responses"].map(
    (word) => [word, "inference"] as const,
  ),
  ...["invoke_agent", "invoke_workflow", "create_agent", "agent", "chain", "workflow", "task", "plan"].map(
    (word) => [word, "container"] as const,
  ),
  ["execute_tool", "tool"],
  ["tool", "tool"],
  ...["retrieval", "retriever", "retrieve", "vector_search"].map((word) => [word, "retrieval"] as const),
  ...["rerank", "reranker"].map((word) => [word, "rerank"] as const),
  // asks for an answer that its own span has told of
  ["fetch_response", "other"],
]);

const KEYS = ["gen_ai.operation.name", "openinference.span.kind", "llm.request.type", "traceloop.span.kind"];
const USAGE = /^(?:gen_ai\.usage\.|llm\.token_count\.|llm\.usage\.)/;

export function operationOf(attributes: Readonly<Record<string, unknown>>, name: string): Operation {
  for (const key of KEYS) {
    const word = attributes[key];
    if (typeof word !== "string") continue;
    const known = OPERATIONS.get(word.toLowerCase());
    if (known !== undefined) return known;
    // an operation of a later convention: no call of a model by its name
    if (key === "gen_ai.operation.name") return "other";
  }
  const keys = Object.keys(attributes);
  if (!keys.some((key) => key.startsWith("gen_ai.") || key.startsWith("llm."))) return "other";
  // without an operation, span names are `{operation} {model}`
  const known = OPERATIONS.get(name.slice(0, 40).split(" ", 1)[0]?.toLowerCase() ?? "");
  if (known !== undefined) return known;
  // vLLM's `llm_request`, and instrumentations older than the attribute
  return keys.some((key) => USAGE.test(key)) ? "inference" : "other";
}
