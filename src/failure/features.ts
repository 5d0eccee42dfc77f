import type { FailureRecord, RequestRecord } from "../model/record.ts";
import type { Classified } from "./classify.ts";
import type { Attributes } from "./explain.ts";

/** The twelve features by which a cause is explained. Each is left out where the log does not tell. */
export const FEATURES = [
  "error_code",
  "http_status",
  "stack_depth",
  "input_truncated",
  "context_tokens",
  "model",
  "tenant",
  "retries",
  "upstream",
  "gpu",
  "route",
  "stream",
] as const;

const TRUNCATED = /\btruncat(?:ed|ing|ion)\b/i;

/** Features of a failure: what its text and the record of its request, where there is one, say. */
export function featuresOfFailure(failure: FailureRecord, found: Classified, request?: RequestRecord): Attributes {
  const { slots, block } = found;
  return {
    error_code: slots.errorCode ?? failure.errorClass ?? slots.errorClass,
    http_status: failure.httpStatus ?? slots.httpStatus ?? request?.httpStatus,
    stack_depth: block.stackDepth > 0 ? block.stackDepth : undefined,
    input_truncated: TRUNCATED.test(found.deciding) ? true : undefined,
    context_tokens: request?.tokensIn ?? slots.tokens,
    model: failure.model ?? request?.model ?? slots.model,
    tenant: failure.tenant ?? request?.tenant,
    retries: request?.retries,
    upstream: slots.upstream,
    gpu: failure.gpu ?? request?.gpu ?? slots.gpu,
    route: failure.route ?? request?.route,
    stream: request?.stream,
  };
}

/** Features of a request that went well, to compare with. */
export function featuresOfRequest(request: RequestRecord): Attributes {
  return {
    http_status: request.httpStatus,
    context_tokens: request.tokensIn,
    model: request.model,
    tenant: request.tenant,
    retries: request.retries,
    gpu: request.gpu,
    route: request.route,
    stream: request.stream,
  };
}
