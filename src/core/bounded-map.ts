/**
 * Puts `value` under `key` and keeps `map` at no more than `limit` entries by dropping the oldest.
 * State stays a plain `Map`, so that it can be structured-cloned into a commit.
 *
 * @returns The entry that was dropped, or undefined.
 */
export function putBounded<K, V>(map: Map<K, V>, key: K, value: V, limit: number): V | undefined {
  let dropped: V | undefined;
  if (map.size >= limit && !map.has(key)) {
    const oldest = map.entries().next();
    if (oldest.done !== true) {
      dropped = oldest.value[1];
      map.delete(oldest.value[0]);
    }
  }
  map.set(key, value);
  return dropped;
}

/** Removes and returns the entry of `key`. */
export function take<K, V>(map: Map<K, V>, key: K): V | undefined {
  const value = map.get(key);
  if (value !== undefined) map.delete(key);
  return value;
}
