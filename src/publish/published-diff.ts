/** Lines shown of one difference. */
const MAX_LINES = 60;

/**
 * What differs between two texts, as lines with `-` and `+`: the middle between the common beginning and end. Cut after
 * {@link MAX_LINES} lines, which says so.
 */
export function lineDiff(before: string, after: string): string {
  const old = before.split("\n");
  const fresh = after.split("\n");
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < Math.min(old.length, fresh.length) - start && old.at(-1 - end) === fresh.at(-1 - end)) end++;
  const lines = [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+ ${line}`),
  ];
  const more = lines.length - MAX_LINES;
  return [
    `@@ line ${start + 1}`,
    ...lines.slice(0, MAX_LINES),
    ...(more > 0 ? [`  … and ${more} more lines`] : []),
  ].join("\n");
}
