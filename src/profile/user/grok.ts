/** Names that a grok expression may use. */
const NAMES: Readonly<Record<string, string>> = {
  WORD: "\\b\\w+\\b",
  NOTSPACE: "\\S+",
  SPACE: "\\s*",
  DATA: ".*?",
  GREEDYDATA: ".*",
  INT: "[+-]?[0-9]+",
  POSINT: "[1-9][0-9]*",
  NONNEGINT: "[0-9]+",
  NUMBER: "[+-]?(?:[0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?",
  BASE10NUM: "[+-]?(?:[0-9]+(?:\\.[0-9]+)?|\\.[0-9]+)",
  DURATION: "(?:[0-9]+(?:\\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+",
  QUOTEDSTRING: '"(?:[^"\\\\]|\\\\.)*"',
  UUID: "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
  IPV4: "(?:[0-9]{1,3}\\.){3}[0-9]{1,3}",
  IPV6: "[0-9A-Fa-f:]{2,39}",
  IP: "(?:(?:[0-9]{1,3}\\.){3}[0-9]{1,3}|[0-9A-Fa-f:]{2,39})",
  HOSTNAME: "[0-9A-Za-z][0-9A-Za-z.-]*",
  IPORHOST: "[0-9A-Za-z][0-9A-Za-z.:-]*",
  URIPATH: "/[^\\s?#]*",
  URIPATHPARAM: "/\\S*",
  PATH: "/\\S*",
  LOGLEVEL:
    "(?:[Tt]race|TRACE|[Dd]ebug|DEBUG|[Nn]otice|NOTICE|[Ii]nfo|INFO|[Ww]arn(?:ing)?|WARN(?:ING)?|[Ee]rr(?:or)?|ERR(?:OR)?|[Cc]rit(?:ical)?|CRIT(?:ICAL)?|[Ff]atal|FATAL)",
  TIMESTAMP_ISO8601:
    "[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?",
  DATE: "[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}",
  TIME: "[0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?",
};

export const GROK_NAMES: readonly string[] = Object.keys(NAMES);

/**
 * Turns `%{NAME:field}` into a regular expression with named groups.
 *
 * @throws {RangeError} Naming a pattern that does not exist, or a field that is no identifier.
 */
export function grokToRegex(expression: string): string {
  return expression.replace(
    /%\{([^}:]*)(?::([^}:]*))?(?::[^}]*)?\}/g,
    (_all, name: string, field: string | undefined) => {
      const pattern = NAMES[name];
      if (pattern === undefined) throw new RangeError(name);
      if (field === undefined) return `(?:${pattern})`;
      if (!/^[A-Za-z_]\w*$/.test(field)) throw new RangeError(field);
      return `(?<${field}>${pattern})`;
    },
  );
}
