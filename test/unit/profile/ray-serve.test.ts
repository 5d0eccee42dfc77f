import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

const router = (message: string, id = "5366e5c4 ", level = "INFO"): string =>
  `${level} 2025-06-20 13:01:40,091 default_LLMRouter p0q8 ${id}-- ${message}\n`;
const json = (fields: object): string =>
  `${JSON.stringify({ asctime: "2025-06-20 13:01:40,091", levelname: "INFO", deployment: "LLMRouter", replica: "p0q8", request_id: "5366e5c4", route: "/", timestamp_ns: 1750424500091000000, ...fields })}\n`;

describe("ray-serve requests", () => {
  test.for([
    { name: "since 2.40", log: router("POST /v1/chat/completions 200 2101.5ms"), route: "/v1/chat/completions" },
    {
      name: "with the client's address",
      log: router("10.0.0.9:41234 POST /v1/chat/completions 200 2101.5ms"),
      route: "/v1/chat/completions",
    },
    {
      name: "with an IPv6 client",
      log: router("[::1]:41234 POST /v1/chat/completions 200 2101.5ms"),
      route: "/v1/chat/completions",
    },
    {
      name: "with additional attributes",
      log: router("POST /v1/chat/completions 200 2101.5ms", "5366e5c4 MainThread 811 "),
      route: "/v1/chat/completions",
    },
    {
      name: "before 2.40: the route stands apart",
      log: "INFO 2025-06-20 13:01:40,091 http_proxy 10.0.0.1 5366e5c4 /chat default http_proxy.py:1052 - POST 200 2101.5ms\n",
      route: "/chat",
    },
    {
      name: "JSON: the latency stays in the message",
      log: json({ message: "POST /v1/chat/completions 200 2101.5ms" }),
      route: "/v1/chat/completions",
    },
    {
      name: "copied by the driver",
      log: `(ServeReplica:default:LLMRouter pid=811, ip=10.8.0.4) ${router("POST /v1/chat/completions 200 2101.5ms")}`,
      route: "/v1/chat/completions",
    },
  ])("$name", ({ log, route }) => {
    const { report, records, profiles } = readLog(log);
    expect(profiles).toEqual({ "ray-serve": 1 });
    expect(report).toMatchObject({
      requests: { finished: 1, by_route: { [route]: 1 } },
      http: { inference: { 200: 1 } },
      latency_ms: { e2e: { count: 1, sum: 2101.5 } },
    });
    expect(records[0]).toMatchObject({ id: "5366e5c4", timeMs: Date.parse("2025-06-20T13:01:40.091Z") });
  });

  test.for([
    {
      name: "inner hops are counted, not requests",
      log: router("CALL chat OK 1834.1ms") + router("CALL chat ERROR 1.1ms") + router("CALL chat CANCELLED 1.1ms"),
      requests: { finished: null },
      counters: { handle_calls_ok: 1, handle_calls_error: 1, handle_calls_cancelled: 1 },
    },
    {
      name: "before 2.40 a method's name is in capitals",
      log: "INFO 2025-06-20 13:01:40,091 default_Chat k3x9 5366e5c4 /chat default replica.py:772 - __CALL__ OK 0.1ms\n",
      requests: { finished: null },
      counters: { handle_calls_ok: 1 },
    },
    {
      name: "health checks are probes",
      log: router("CALL check_health OK 1.1ms"),
      requests: { finished: null },
      counters: { health_probes: 1 },
    },
    {
      name: "router and proxy write one request twice",
      log: router("POST /v1/x 200 10.0ms") + router("POST /v1/x 200 12.0ms"),
      requests: { finished: 1 },
      counters: { duplicates_dropped: 1 },
    },
    {
      name: "a retry with the same id and another status is a request",
      log: router("POST /v1/x 503 10.0ms") + router("POST /v1/x 200 12.0ms"),
      requests: { finished: 1, failed: 1 },
      counters: {},
    },
    {
      name: "requests without id are never merged",
      log: router("POST /v1/x 200 10.0ms", "") + router("POST /v1/x 200 10.0ms", ""),
      requests: { finished: 2 },
      counters: {},
    },
    {
      name: "the client left",
      log: router("POST /v1/x 499 10.0ms"),
      requests: { finished: 0, failed: 0, aborted: 1 },
      counters: {},
    },
    {
      name: "rejections of a full replica",
      log: "INFO 2025-06-20 13:03:20,063 proxy 10.8.0.2 -- Replica(id='k', deployment='D', app='default') rejected request because it is at max capacity of 5 ongoing requests. Retrying request 9741.\n",
      requests: { finished: null },
      counters: { replica_rejections: 1 },
    },
    {
      name: "words of a user's print are no request",
      log:
        router("the answer: POST /v1/x 200 10.0ms") +
        router("rejected request because it is at max capacity of 5 ongoing requests"),
      requests: { finished: null },
      counters: {},
    },
  ])("$name", ({ log, requests, counters }) => {
    const { report } = readLog(log);
    expect(report["requests"]).toMatchObject(requests);
    expect(report["counters"]).toEqual(counters);
  });

  test("only answered requests have a duration, and figures that are none are refused", () => {
    const { report, rejected } = readLog(
      router("POST /v1/x 500 10.0ms", "a ") +
        router("POST /v1/x 200 nanms", "b ") +
        router("POST /v1/x 200 -1.0ms", "c "),
    );
    expect(report["latency_ms"]).toEqual({});
    expect(rejected.toSorted()).toEqual(["negative-duration", "not-a-number"]);
  });
});

describe("ray-serve failures", () => {
  const traceback = [
    "ray::ServeReplica:default:D.handle_request() (pid=811, ip=10.8.0.4)",
    '  File "x.py", line 1, in f',
    "    yield",
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
  ];
  const whole = ["Request failed.", ...traceback].join("\n");
  const prefix = "(ServeReplica:default:D pid=811) ";
  test.for([
    { name: "with its bare lines", log: `${router("Request failed.", "a ", "ERROR")}${traceback.join("\n")}\n` },
    {
      name: "copied by the driver line by line",
      log: `${prefix}${router("Request failed.", "a ", "ERROR")}${traceback.map((text) => `${prefix}${text}\n`).join("")}`,
    },
    {
      name: "JSON: the traceback is a field",
      log: json({ levelname: "ERROR", message: "Request failed.", exc_text: traceback.join("\n") }),
    },
  ])("$name", ({ log }) => {
    expect(readLog(log).records).toMatchObject([{ kind: "failure", text: whole }]);
  });

  test("lines of vLLM stay vLLM's", () => {
    const stats =
      "INFO 06-20 13:03:20 [loggers.py:118] Engine 000: Avg prompt throughput: 61.2 tokens/s, Avg generation throughput: 88.0 tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 3.4%, Prefix cache hit rate: 12.0%";
    expect(
      readLog(`${prefix}${stats}\n${prefix}(EngineCore_0 pid=840) ${stats}\n${json({ message: stats })}`).profiles,
    ).toEqual({ "vllm-v1": 3 });
  });
});

test("ray-serve: a restart after any line goes on exactly", () => {
  const log = readFileSync(path.join(import.meta.dirname, "../../golden/ray-serve/ray-serve.log"));
  const { report } = readLog(log);
  const restarted = readWithRestarts(log);
  for (const key of ["requests", "http", "latency_ms", "gauges_last", "counters", "errors"])
    expect(restarted[key]).toEqual(report[key]);
});
