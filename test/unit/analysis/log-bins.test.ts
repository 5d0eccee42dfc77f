import { DDSketch } from "@datadog/sketches-js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LogBins } from "../../../src/analysis/log-bins.ts";

const value = fc.oneof(
  fc.double({ min: 1e-6, max: 1e7, noNaN: true }),
  fc.double({ min: -1e3, max: 0, noNaN: true }),
  fc.constantFrom(0, -0, 1, 5e-324, 1e-308, 1e300),
);

test("bins give the quantiles of DDSketch, to the last bit", () => {
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1, maxLength: 300 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
      (values, qs) => {
        const bins = new LogBins(0.005);
        const sketch = new DDSketch({ relativeAccuracy: 0.005 });
        for (const one of values) {
          bins.add(one);
          sketch.accept(one);
        }
        for (const q of [0, 0.5, 0.9, 0.99, 1, ...qs]) expect(bins.quantile(q)).toBe(sketch.getValueAtQuantile(q));
      },
    ),
  );
});

test("bins without a value have no quantile", () => {
  expect(new LogBins(0.01).quantile(0.5)).toBeNaN();
});
