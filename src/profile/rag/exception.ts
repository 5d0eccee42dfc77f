// the last line of a traceback: `package.module.Class: message`, or the class alone
const EXCEPTION = /^((?:[A-Za-z_]\w{0,80}\.){0,12})([A-Z]\w{1,80})(?::|$)/;

/** The exception that a block of text ends with: its deciding line. */
export interface LastException {
  /** Class without its package, e.g. `ReadTimeout`. */
  readonly name: string;
  /** `httpcore.`, or empty. */
  readonly package: string;
}

/** Looks below the first line, which is the logger's message. */
export function lastException(text: string): LastException | undefined {
  if (!text.includes("\n")) return undefined;
  const lines = text.split("\n");
  for (let index = lines.length - 1; index > 0; index--) {
    const found = EXCEPTION.exec(lines[index] ?? "");
    if (found !== null) return { name: found[2] ?? "", package: found[1] ?? "" };
  }
  return undefined;
}

const TIMEOUT = /^(?:API|Read|Write|Connect|Connection|Request)?Timeout(?:Error|Exception)?$/;
const UNREACHABLE =
  /^(?:ConnectionRefusedError|ConnectError|NewConnectionError|ClientConnectorError|InvokeConnectionError)$/;
const LIMITED = /^(?:RateLimitError|InvokeRateLimitError|TooManyRequests)$/;
/** Money, not rate: told by the words of the message. */
const SPENT = /insufficient_quota|billing|credit balance/i;

/** The cause that a class of exception decides by itself; undefined leaves it to the words. */
export function causeOfException(exception: LastException | undefined, text: string): string | undefined {
  if (exception === undefined) return undefined;
  const { name } = exception;
  // a pool of database connections that is used up
  if (exception.package.startsWith("sqlalchemy")) return name === "TimeoutError" ? "db_pool_exhausted" : undefined;
  if (TIMEOUT.test(name)) return "upstream_timeout";
  if (UNREACHABLE.test(name)) return "upstream_unreachable";
  if (LIMITED.test(name)) return SPENT.test(text) ? undefined : "rate_limited";
  if (name === "InvokeAuthorizationError") return "auth_invalid_key";
  return name === "InvokeServerUnavailableError" ? "upstream_overloaded" : undefined;
}
