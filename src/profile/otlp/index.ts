import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { OtlpParser } from "./parse.ts";

/** Telemetry in OTLP's JSON encoding, as the Collector's file exporter and SDKs' file exporters write it. */
export const otlp: Profile = {
  name: "otlp",
  title: "OpenTelemetry OTLP JSON file",
  upstream:
    "open-telemetry/opentelemetry-proto at ac2c4b5; collector fileexporter at 934999fb; GenAI semantic conventions 1.41 and older names; OpenLLMetry 93429cfb; OpenInference; vLLM spans",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: [
    "e2e",
    "ttft",
    "retrieval",
    "rerank",
    "tool",
    "tokens in",
    "tokens cached",
    "tokens out",
    "tokens reasoning",
    "retrieval scores",
    "evaluation scores",
  ],
  cannotTell: [
    "The duration of a request of which only the details event was exported.",
    "Metrics data points: they are sums of what spans and logs tell, so they are not counted again.",
    "Spans that were not sampled.",
  ],
  jsonKeys: ["resourceSpans", "resourceLogs", "resourceMetrics"],
  firstCharacters: "",
  claims(line: Line): boolean {
    const { json } = line;
    if (json === undefined) return false;
    return (
      Array.isArray(json["resourceSpans"]) ||
      Array.isArray(json["resourceLogs"]) ||
      Array.isArray(json["resourceMetrics"])
    );
  },
  open: (context) => new OtlpParser(context),
};
