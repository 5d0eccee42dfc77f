/** Characters of a statement that are read. */
const MAX_CHARS = 64 * 1024;

/**
 * A statement without its literals and comments: what stands in them is data, whatever it looks like.
 * Quoted identifiers stay.
 */
export function maskLiterals(sql: string): string {
  const end = Math.min(sql.length, MAX_CHARS);
  let masked = "";
  let from = 0;
  let at = 0;
  const skipTo = (next: number, put: string): void => {
    masked += sql.slice(from, at) + put;
    at = next < 0 ? end : next;
    from = at;
  };
  while (at < end) {
    const code = sql.charCodeAt(at);
    if (code === 39) skipTo(endOfString(sql, at, end), "''");
    else if (code === 45 && sql.charCodeAt(at + 1) === 45) skipTo(sql.indexOf("\n", at), " ");
    else if (code === 47 && sql.charCodeAt(at + 1) === 42) skipTo(after(sql, "*/", at + 2), " ");
    else if (code === 36) {
      const tag = DOLLAR_TAG.exec(sql.slice(at, at + 64))?.[0];
      if (tag === undefined) at++;
      else skipTo(after(sql, tag, at + tag.length), "''");
    } else at++;
  }
  return masked + sql.slice(from, end);
}

// `$1` is a parameter, `$$` and `$tag$` open a literal
const DOLLAR_TAG = /^\$(?:[A-Za-z_]\w*)?\$/;

function after(sql: string, mark: string, from: number): number {
  const at = sql.indexOf(mark, from);
  return at < 0 ? -1 : at + mark.length;
}

/** Index behind a literal: `''` is a quote in it, and `\'` too in one that begins with `E`. */
function endOfString(sql: string, open: number, end: number): number {
  const before = sql.charCodeAt(open - 1);
  const escapes = before === 69 || before === 101;
  for (let at = open + 1; at < end; at++) {
    const code = sql.charCodeAt(at);
    if (escapes && code === 92) at++;
    else if (code === 39) {
      if (sql.charCodeAt(at + 1) !== 39) return at + 1;
      at++;
    }
  }
  return end;
}

// pgvector 0.8: distance operators, and the functions behind them
const DISTANCE =
  /<(?:->|=>|#>|\+>|~>|%>)|\b(?:cosine_distance|l1_distance|l2_distance|inner_product|vector_negative_inner_product|hamming_distance|jaccard_distance)\s*\(/i;
const NAMED_DISTANCE =
  /(?:<(?:->|=>|#>|\+>|~>|%>)|\b(?:cosine_distance|l1_distance|l2_distance|inner_product)\s*\()[^,;]{0,300}?\bas\s+"?(\w{1,63})"?/gi;
const READS = /^\s*(?:\(|select\b|with\b|declare\b|copy\b)/i;
const ORDER_BY = /\border\s+by\b/gi;
const END_OF_ORDER = /\b(?:limit|offset|fetch|where|from|union|for)\b|;/i;

/** True when a statement (literals masked) orders by a vector distance, by itself or by the name it gave it. */
export function isVectorSearch(masked: string): boolean {
  if (!DISTANCE.test(masked)) return false;
  return masked.split(";").some((statement) => READS.test(statement) && ordersByDistance(statement));
}

function ordersByDistance(statement: string): boolean {
  const names = [...statement.matchAll(NAMED_DISTANCE)].map((found) => (found[1] ?? "").toLowerCase());
  for (const found of statement.matchAll(ORDER_BY)) {
    const from = found.index + found[0].length;
    const rest = statement.slice(from);
    const order = rest.slice(0, END_OF_ORDER.exec(rest)?.index);
    if (DISTANCE.test(order)) return true;
    const words: readonly string[] = order.toLowerCase().match(/\w+/g) ?? [];
    if (names.some((name) => words.includes(name))) return true;
  }
  return false;
}

const FROM = /\bfrom\s+(?:only\s+)?"?([A-Za-z_][\w$]*)"?(?:\."?([A-Za-z_][\w$]*)"?)?/i;

/** The table that is searched: the first one named, without its schema. */
export function tableOf(masked: string): string | undefined {
  const found = FROM.exec(masked);
  return found?.[2] ?? found?.[1];
}

const TENANT = /\btenant(?:_?(?:id|name|key|slug|uuid))?"?\s*=\s*\$(\d{1,4})\b/i;
const TENANT_IN_JSON = /->>\s*'tenant(?:_?(?:id|name|key|slug|uuid))?'\s*\)?\s*=\s*\$(\d{1,4})\b/i;

/** The number of the parameter that a statement compares its tenant with; undefined when it compares none. */
export function tenantParameter(sql: string, masked: string): number | undefined {
  const found = TENANT.exec(masked) ?? (masked.includes("->>") ? TENANT_IN_JSON.exec(sql) : null);
  return found === null ? undefined : Number(found[1]);
}

const PARAMETERS = /^(?:(?:Query )?[Pp]arameters|(?:unnamed |extended )?(?:portal|query)[^:]{0,80} parameters): /;

/**
 * The value of parameter `$number` in `parameters: $1 = '…', $2 = 'acme'` (a capital P since 16).
 *
 * @returns Undefined for NULL, for one that was cut (`'ac...'`), and where it is missing.
 */
export function parameterOf(detail: string, number: number): string | undefined {
  const head = PARAMETERS.exec(detail);
  if (head === null) return undefined;
  let at = head[0].length;
  while (at < detail.length) {
    const equals = detail.indexOf(" = ", at);
    if (equals < 0 || detail.charCodeAt(at) !== 36) return undefined;
    const found = Number(detail.slice(at + 1, equals)) === number;
    const open = equals + 3;
    const quoted = detail.charCodeAt(open) === 39;
    const comma = detail.indexOf(", $", open);
    const end = quoted ? endOfString(detail, open, detail.length) : comma < 0 ? detail.length : comma;
    if (found) {
      const value = quoted ? detail.slice(open + 1, end - 1).replaceAll("''", "'") : undefined;
      return value === undefined || value === "" || value.endsWith("...") ? undefined : value;
    }
    at = end + 2;
  }
  return undefined;
}
