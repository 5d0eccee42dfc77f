import { putBounded } from "../../core/bounded-map.ts";

/** Requests remembered after their end. */
const MAX_IDS = 10_000;
const INTERNAL = /^(.+)-[0-9a-f]{8}$/;

/**
 * Ids of requests whose end was counted, so that a second line about the same end is not counted again. `own` is an id as
 * printed; `alias` is what remains of it without `-` and eight hexadecimal digits, which the engine adds to the client's id.
 */
export type RequestEnds = Map<string, "own" | "alias">;

/** @returns True for the first line that ends this request. */
export function firstEnd(ends: RequestEnds, id: string): boolean {
  const external = INTERNAL.exec(id)?.[1];
  if (ends.has(id) || (external !== undefined && ends.get(external) === "own")) return false;
  putBounded(ends, id, "own", MAX_IDS);
  if (external !== undefined && !ends.has(external)) putBounded(ends, external, "alias", MAX_IDS);
  return true;
}

/** The client uses this id for a new request. */
export function beginRequest(ends: RequestEnds, id: string): void {
  if (ends.size > 0) ends.delete(id);
}
