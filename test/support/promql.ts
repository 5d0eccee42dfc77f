/** Names of metrics in a PromQL expression: what is neither a label, a function, a keyword nor a string. */
export function metricsIn(expr: string): string[] {
  const bare = expr
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(/\{[^}]*\}/g, "")
    .replace(/\[[^\]]*\]/g, "")
    .replace(/\boffset\s+\S+/g, "")
    .replace(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, "");
  return [...bare.matchAll(/[a-zA-Z_:][a-zA-Z0-9_:]*(?!\s*\()(?![a-zA-Z0-9_:])/g)]
    .map(([name]) => name)
    .filter((name) => name.includes("_") || name === "up" || name === "ALERTS");
}

/** A dashboard's query with the values that Grafana would put in for "all". */
export function interpolated(expr: string, range = "15m", rateInterval = "1m"): string {
  return expr
    .replaceAll("$__rate_interval", rateInterval)
    .replaceAll("$__range", range)
    .replaceAll(/"\$(?:job|instance)"/g, '".+"')
    .replaceAll(/"\$(?:service|model)"/g, '".*"');
}
