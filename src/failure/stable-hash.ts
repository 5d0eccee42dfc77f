/**
 * A 52-bit hash of a text as 13 hexadecimal digits: the same on every machine, in every version.
 * Two multiplicative lanes over UTF-16 units with a final mix (after bryc's public-domain cyrb53).
 */
export function stableHash(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (0xfffff & low) + (high >>> 0)).toString(16).padStart(13, "0");
}
