import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { expect, test } from "vitest";
import { METRICS } from "../../../src/metric/catalogue.ts";
import { MetricSet, observe } from "../../../src/metric/metric-set.ts";
import { renderText } from "../../../src/metric/open-metrics.ts";
import { MetricSetProducer } from "../../../src/metric/otel-producer.ts";

test("our text format holds the samples that OpenTelemetry's own exporter reads off the producer", async () => {
  const set = new MetricSet({ maxSeries: 100 });
  for (const tenant of ['a"b', "back\\slash", "line\nbreak", "plain"]) {
    set.cell(METRICS.requests, { service_name: "chat" }, "m", "/v1", tenant, "ok", "stop").value = 3;
    set.cell(METRICS.running, { service_name: tenant }, "0").value = 1.5e-7;
    const cell = set.cell(METRICS.requestTtft, { service_name: "chat" }, "m", "/v1", tenant);
    for (const seconds of [0, 0.0004, 0.25, 3, 1e6]) observe(cell, seconds);
  }
  const producer = new MetricSetProducer({ set, nowMs: () => 0, beforeCollect: () => {}, resource: {} });
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
  const theirs = serializer.serialize((await producer.collect()).resourceMetrics);
  const samples = (text: string): string[] =>
    text
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("# UNIT"))
      .sort();
  expect(samples([...renderText(set, () => {})].join(""))).toEqual(samples(theirs));
});

test("batches hold every series once, in parts that are no larger than asked", () => {
  const set = new MetricSet({ maxSeries: 1000 });
  for (let at = 0; at < 300; at++) {
    set.cell(METRICS.requests, {}, `m${at}`).value = at;
    observe(set.cell(METRICS.requestTtft, {}, `m${at}`), at);
  }
  const producer = new MetricSetProducer({ set, nowMs: () => 0, beforeCollect: () => {}, resource: {} });
  const parts = [...producer.batches(1000)].map(({ scopeMetrics }) =>
    (scopeMetrics[0]?.metrics ?? []).flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ attributes }) => `${descriptor.name} ${String(attributes["model"])}`),
    ),
  );
  expect(new Set(parts.flat()).size).toBe(600);
  expect(parts.flat().length).toBe(600);
  expect(parts.length).toBeGreaterThan(20);
});
