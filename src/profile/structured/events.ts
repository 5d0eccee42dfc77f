import { Latency, type LatencyKind } from "../../model/latency.ts";

/** What an event name of an application's own vocabulary speaks of. */
export type Subject = "request" | "llm" | "step" | "guardrail" | "security";
export type Action = "completed" | "failed" | "retry" | "fallback" | "started" | "chunk" | "timeout" | "blocked";

export interface EventName {
  readonly subject: Subject;
  readonly action: Action;
  /** Latency kind of a step. */
  readonly step: LatencyKind | undefined;
  readonly leak: boolean;
}

const SUBJECTS: ReadonlyArray<readonly [subject: Subject, step: LatencyKind | undefined, words: RegExp]> = [
  ["security", undefined, /^(?:security|tenant|isolation)$/],
  ["guardrail", undefined, /^(?:guardrails?|guard|moderation|safety|policy|prompt_guard)$/],
  ["step", Latency.retrieval, /^(?:retrieval|retriever|retrieve|search|vector_search|vectordb|vector_db)$/],
  ["step", Latency.rerank, /^(?:rerank|reranker|reranking)$/],
  ["step", Latency.embedding, /^(?:embed|embedding|embeddings|embedder)$/],
  ["step", Latency.tool, /^(?:tool|tools|tool_call|function_call|mcp)$/],
  ["llm", undefined, /^(?:llm|model|generation|inference|completion|upstream|provider)$/],
  ["request", undefined, /^(?:request|http|chat|answer|query|api|rag|conversation)$/],
];
const ACTIONS: ReadonlyArray<readonly [action: Action, words: RegExp]> = [
  ["completed", /^(?:completed?|done|finished?|end|ended|success|succeeded|ok|response)$/],
  ["failed", /^(?:failed|failure|fail|error|errored)$/],
  ["retry", /^(?:retry|retried|retrying)$/],
  ["fallback", /^(?:fallback|failover)$/],
  ["started", /^(?:started?|begin|received|accepted)$/],
  ["chunk", /^(?:chunk|delta|token|progress|stream)$/],
  ["timeout", /^(?:timeout|timed_out)$/],
  ["blocked", /^(?:blocked|block|denied|rejected|intervened|triggered)$/],
];

/**
 * Reads event names such as `retrieval.completed`, `llm.retry`, `request_failed`, `rag.tool.timeout`.
 *
 * @returns Undefined when the text is no such name (a plain message, for instance).
 */
export function parseEventName(event: string): EventName | undefined {
  if (event.length > 80 || !/^[A-Za-z0-9_]+(?:[.:/-][A-Za-z0-9_]+)*$/.test(event)) return undefined;
  const name = event.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase();
  const parts = /[.:/-]/.test(name) ? name.split(/[.:/-]/) : splitWord(name);
  if (/cross_tenant|tenant_leak/.test(name))
    return { subject: "security", action: "failed", step: undefined, leak: /leak|violation/.test(name) };
  if (parts.length < 2) return undefined;
  const action = ACTIONS.find(([, words]) => words.test(parts.at(-1) ?? ""))?.[0];
  if (action === undefined) return undefined;
  for (const part of parts.slice(0, -1).toReversed()) {
    const found = SUBJECTS.find(([, , words]) => words.test(part));
    if (found !== undefined) return { subject: found[0], action, step: found[1], leak: false };
  }
  return undefined;
}

/** `request_completed` → `request`, `completed`; `tool_call_failed` → `tool_call`, `failed`. */
function splitWord(name: string): string[] {
  const cut = name.endsWith("_timed_out") ? name.length - "_timed_out".length : name.lastIndexOf("_");
  return cut < 0 ? [name] : [name.slice(0, cut), name.slice(cut + 1)];
}
