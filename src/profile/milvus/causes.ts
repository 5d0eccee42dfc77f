import { causeOfStoreStatus } from "../rag/store-status.ts";

/** Causes by gRPC code, as `$method_status` prints it. */
const BY_STATUS: Readonly<Record<string, string>> = {
  GrpcCanceled: "client_cancelled",
  GrpcDeadlineExceeded: "upstream_timeout",
  GrpcNotFound: "vector_index_missing",
  GrpcPermissionDenied: "permission_denied",
  GrpcResourceExhausted: "rate_limited",
  GrpcUnauthenticated: "auth_invalid_key",
  GrpcUnavailable: "upstream_overloaded",
  GrpcInternal: "upstream_error",
};

/** Causes by Milvus' own error codes (pkg/util/merr/errors.go). Codes of which the words decide are left out. */
const BY_CODE: Readonly<Record<number, string>> = {
  2: "upstream_overloaded",
  7: "disk_full",
  8: "rate_limited",
  49: "rate_limited",
  100: "vector_index_missing",
  101: "vector_index_degraded",
  103: "vector_index_degraded",
  106: "vector_index_degraded",
  200: "vector_index_missing",
  201: "vector_index_degraded",
  202: "vector_index_degraded",
  401: "vector_index_degraded",
  601: "vector_index_degraded",
  700: "vector_index_missing",
  800: "vector_index_missing",
  902: "vector_index_degraded",
  904: "vector_index_degraded",
  1102: "request_too_large",
  1400: "auth_invalid_key",
  1401: "permission_denied",
  1402: "permission_denied",
  1807: "rate_limited",
};

const DEGRADED = /not loaded|not fully loaded|on recovering|node offline|channel not (?:available|found)|channel lack/;
const MISSING = /(?:collection|database|index|partition|alias) not (?:found|exist)|can't find collection/;

/** The cause that status, code or the fixed words of merr decide; undefined leaves it to the catalogue. */
export function causeOfMilvus(
  status: string | undefined,
  code: number | undefined,
  message: string | undefined,
): string | undefined {
  if (status !== undefined) {
    if (status.startsWith("HttpError")) return causeOfStoreStatus(Number(status.slice(9)));
    const known = BY_STATUS[status];
    if (known !== undefined) return known;
  }
  const words = message ?? "";
  if (DEGRADED.test(words)) return "vector_index_degraded";
  if (code !== undefined && BY_CODE[code] !== undefined) return BY_CODE[code];
  if (MISSING.test(words)) return "vector_index_missing";
  if (code === 503) return "upstream_overloaded";
  if ((code === 1100 || code === 1101) && !/dim/i.test(words)) return "invalid_request";
  return undefined;
}
