import { DDSketch } from "@datadog/sketches-js";

/** Relative error of a sketch's answers. */
export const ACCURACY = 0.005;
/** Version of the layout of what a commit holds of the sketches; another one starts anew. */
export const LAYOUT = 1;

/** DDSketch's own mapping of values to buckets of equal ratio; each slot keeps few of them, so the store is ours and sparse. */
const { mapping } = new DDSketch({ relativeAccuracy: ACCURACY });

/** Values below a microsecond share one bucket, those of 28 hours and more are beyond the sketch. Nanoseconds. */
const LOW_NS = 1000;
const HIGH_NS = 1e14;
const OFFSET = mapping.key(LOW_NS) - 2;

/** Key of values that were kept only as a count, because no window needs their order. */
export const REST_KEY = 0;
/** Key of the values beyond the sketch. */
export const OVERFLOW_KEY = mapping.key(HIGH_NS) - OFFSET + 1;
export const KEYS = OVERFLOW_KEY + 1;

/** @param ns Whole nanoseconds, at least 0. */
export function keyOf(ns: number): number {
  if (ns <= LOW_NS) return 1;
  return ns >= HIGH_NS ? OVERFLOW_KEY : mapping.key(ns) - OFFSET;
}

/** The middle of a bucket: within {@link ACCURACY} of all its values. Nanoseconds. */
export const middleOf = (key: number): number => Math.round(mapping.value(key + OFFSET));
