/** Which error LiteLLM names, and the cause it stands for. */

const FIRST_CLASS = /\blitellm\.(?:exceptions\.)?([A-Z]\w{2,60})\b/;
/** Classes of which others inherit: a more exact one may follow in the same chain. */
const GENERIC = new Set(["BadRequestError", "APIError", "InternalServerError"]);
const CHAIN =
  /^litellm\.(?:exceptions\.)?[A-Z]\w{2,60}: (?:litellm\.(?:exceptions\.)?)?(ContextWindowExceededError|ContentPolicyViolationError|RateLimitError|AuthenticationError|NotFoundError|Timeout)\b/;
/** Where the class stands, if it is not behind much text of others. */
const CLASS_WITHIN_CHARS = 300;

/**
 * The error class of an exception text: its first `litellm.<Class>`, or the exact class behind a generic one.
 *
 * @param text Begins with the exception, e.g. `litellm.RateLimitError: RateLimitError: OpenAIException - …`.
 */
export function errorClassOf(text: string): string | undefined {
  if (OWN_REFUSAL.test(text)) return undefined;
  const head = text.slice(0, CLASS_WITHIN_CHARS);
  const first = FIRST_CLASS.exec(head)?.[1];
  if (first === undefined || !GENERIC.has(first)) return first;
  return CHAIN.exec(head)?.[1] ?? first;
}

/** Refusals of the proxy itself may quote errors of deployments: their own words decide. */
const OWN_REFUSAL =
  /^(?:\d{3}: |No deployments available|Budget has been exceeded|ExceededBudget|Authentication Error)/;

const BY_CLASS: Readonly<Record<string, string>> = {
  RateLimitError: "rate_limited",
  RouterRateLimitError: "rate_limited",
  AuthenticationError: "auth_invalid_key",
  PermissionDeniedError: "permission_denied",
  ContextWindowExceededError: "context_length_exceeded",
  Timeout: "upstream_timeout",
  APITimeoutError: "upstream_timeout",
  APIConnectionError: "upstream_unreachable",
  ServiceUnavailableError: "upstream_overloaded",
  BadGatewayError: "upstream_overloaded",
  APIError: "upstream_error",
  NotFoundError: "model_not_found",
  BudgetExceededError: "quota_exhausted",
  UnprocessableEntityError: "invalid_request",
  UnsupportedParamsError: "invalid_request",
  GuardrailRaisedException: "content_policy_block",
  BlockedPiiEntityError: "content_policy_block",
  RejectedRequestError: "content_policy_block",
  MidStreamFallbackError: "stream_interrupted",
};

const BY_STATUS: Readonly<Record<string, string>> = {
  "400": "invalid_request",
  "401": "auth_invalid_key",
  "403": "permission_denied",
  "404": "model_not_found",
  "408": "upstream_timeout",
  "413": "request_too_large",
  "429": "rate_limited",
  "499": "client_cancelled",
  "503": "upstream_overloaded",
  "504": "upstream_timeout",
};

const CONNECTION =
  /connection error|cannot connect|connect call failed|connection refused|connection reset|name or service not known|name resolution|server disconnected/i;
/** What a backend may say of itself inside a generic class: its text decides then. */
const BACKEND_TELLS =
  /out of memory|cuda|nccl|enginedead|engine core|kv cache|no space left|context length|too long|template|image|audio|grammar|schema|lora|adapter|embedding|dimension|collection|index/i;
const PROMPT_ATTACK = /prompt.?(?:attack|injection)|jailbreak/i;
const JAILBREAK_DETECTED = /jailbreak['"]?: \{[^}]{0,200}(?:detected|filtered)['"]?: ?True/i;
const GUARDRAIL = /guardrail|moderation policy/i;
const NO_MONEY = /insufficient_quota|exceeded your current quota|credit balance is too low/i;

/**
 * The cause of a failed request, class first, then the proxy's own words, then the status it prints.
 *
 * @param text The exception text, without the logger's prefix.
 * @param errorClass As printed or by {@link errorClassOf}.
 * @returns Undefined where only the catalogue of texts can tell.
 */
export function causeOfError(text: string, errorClass: string | undefined): string | undefined {
  if (errorClass === "ContentPolicyViolationError")
    return JAILBREAK_DETECTED.test(text) ? "prompt_injection_block" : "content_policy_block";
  if (errorClass === "RateLimitError" && NO_MONEY.test(text)) return "quota_exhausted";
  if (errorClass === "InternalServerError") {
    if (CONNECTION.test(text)) return "upstream_unreachable";
    return BACKEND_TELLS.test(text) ? undefined : "upstream_error";
  }
  if (errorClass === "BadRequestError") {
    if (GUARDRAIL.test(text)) return PROMPT_ATTACK.test(text) ? "prompt_injection_block" : "content_policy_block";
    return BACKEND_TELLS.test(text) ? undefined : "invalid_request";
  }
  const known = errorClass === undefined ? undefined : BY_CLASS[errorClass];
  return known ?? causeOfRefusal(text);
}

/** Refusals in the proxy's own words, before or without any upstream. */
function causeOfRefusal(text: string): string | undefined {
  if (/^(?:\d{3}: )?(?:Budget has been exceeded|ExceededBudget|Crossed budget)/i.test(text)) return "quota_exhausted";
  // every deployment is cooling down after errors; those are listed
  if (text.startsWith("No deployments available"))
    return /RateLimitError|'status_code': '429'|cooldown_list=\[\]/.test(text) ? "rate_limited" : "upstream_overloaded";
  if (/^(?:\d{3}: )?(?:\{'error': ')?(?:[^']{0,80}: )?Invalid model name passed in model=/.test(text))
    return "model_not_found";
  if (/^(?:\d{3}: )?(?:key|team|user|project) not allowed to access model/i.test(text)) return "permission_denied";
  if (/^(?:\d{3}: )?Authentication Error/.test(text))
    return /not allowed|only .{0,40}admin/i.test(text) ? "permission_denied" : "auth_invalid_key";
  if (
    /^(?:\d{3}: )?(?:LiteLLM Rate Limit Handler|Max parallel request limit|Rate limit exceeded|Crossed TPM)/i.test(text)
  )
    return "rate_limited";
  const status = /^(\d{3}): /.exec(text)?.[1];
  if (status === undefined) return CONNECTION.test(text.slice(0, 400)) ? "upstream_unreachable" : undefined;
  if (GUARDRAIL.test(text)) return PROMPT_ATTACK.test(text) ? "prompt_injection_block" : "content_policy_block";
  return BY_STATUS[status] ?? (status.startsWith("5") ? "upstream_error" : undefined);
}
