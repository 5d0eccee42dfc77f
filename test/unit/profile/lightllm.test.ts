import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

const line = (place: string, message: string, level = "INFO"): string =>
  `${level} 05-11 11:01:01 [${place}] ${message}\n`;
const FIGURES =
  "first_token_cost:142.25ms total_cost_time:1842.5ms,out_token_counter:101 mean_per_token_cost_time: 16.8ms prompt_token_num:411 prompt_cache_len:16 prompt_cache_ratio:0.03 mtp_avg_token_per_step:1.0 ";
const done = (id: string, headers = "X-Request-Id: X-Session-Id:"): string =>
  line("manager.py:555", `${headers} start_time:2026-05-11 11:01:00 lightllm_req_id:${id} ${FIGURES}`);
const EXACT = {
  latency_ms: { e2e: { count: 1, sum: 1842.5 }, ttft: { count: 1, sum: 142.25 }, tpot: { count: 1, sum: 16.8 } },
  tokens: { in: { count: 1, sum: 411 }, in_cached: { count: 1, sum: 16 }, out: { count: 1, sum: 101 } },
};

describe("lightllm", () => {
  test.for([
    { name: "one line holds all", log: done("8") },
    {
      name: "headers of the client's choice hold other figures",
      log: done(
        "8",
        "X-Request-Id:a lightllm_req_id:9 first_token_cost:1ms total_cost_time:2ms,out_token_counter:3 X-Session-Id:s",
      ),
    },
    { name: "the server's own probes have negative ids", log: done("-8") + done("8") },
  ])("$name", ({ log }) => {
    const { report, profiles } = readLog(log);
    expect(report).toMatchObject(EXACT);
    expect(report["requests"]).toMatchObject({ finished: 1 });
    expect(Object.keys(profiles)).toEqual(["lightllm"]);
  });

  test("older lines lack the cache, and lack it in the figures", () => {
    const log = line(
      "manager.py:555",
      "X-Request-Id: X-Session-Id: start_time:2026-05-11 11:01:00 lightllm_req_id:8 first_token_cost:142.25ms total_cost_time:1842.5ms,out_token_counter:101 prompt_token_num:411 ",
    );
    expect(readLog(log).report["tokens"]).toEqual({ in: { count: 1, sum: 411 }, out: { count: 1, sum: 101 } });
  });

  test("figures that are none are refused and counted", () => {
    const { rejected, report } = readLog(done("8").replace("142.25ms", "nanms").replace("1842.5ms", "-3ms"));
    expect(rejected.toSorted()).toEqual(["negative-duration", "not-a-number"]);
    expect(report["requests"].finished).toBe(1);
  });

  test.for([
    {
      name: "arrivals count, probes do not",
      log:
        line("manager.py:341", "recieved req X-Request-Id: X-Session-Id: start_time:x lightllm_req_id:8 ") +
        line("manager.py:341", "recieved req X-Request-Id: X-Session-Id: start_time:x lightllm_req_id:-8 "),
      requests: { received: 1 },
    },
    {
      name: "a client that left is told by three lines",
      log:
        line("manager.py:620", "aborted group_request_id 104", "WARNING") +
        line("manager.py:300", "group_request_id: 104 has exception req_id 104 disconnected", "ERROR") +
        line("manager.py:620", "aborted group_request_id 104", "WARNING"),
      requests: { aborted: 1, failed: 0 },
    },
    {
      name: "a request that raised failed, its abort follows",
      log:
        line(
          "manager.py:300",
          "group_request_id: 104 has exception the input prompt token len 9 + max_new_tokens 9 > 16",
          "ERROR",
        ) + line("manager.py:620", "aborted group_request_id 104", "WARNING"),
      requests: { aborted: 0, failed: 1 },
    },
    {
      name: "an abort without id is no request",
      log: line("manager.py:620", "aborted group_request_id not exist", "WARNING"),
      requests: { aborted: null },
    },
  ])("$name", ({ log, requests }) => {
    expect(readLog(log).report["requests"]).toMatchObject(requests);
  });

  test("files named like vLLM's are its own once it has shown itself", () => {
    const log = line("api_start.py:248", "all start args:Namespace()") + line("api_server.py:10", "Boom", "ERROR");
    expect(readLog(log).profiles).toEqual({ lightllm: 2 });
  });

  test("a restart after any line goes on exactly", () => {
    const log = readFileSync(path.join(import.meta.dirname, "../../golden/lightllm/lightllm.log"));
    const { report } = readLog(log);
    const restarted = readWithRestarts(log);
    for (const key of ["requests", "http", "tokens", "latency_ms", "errors"])
      expect(restarted[key]).toEqual(report[key]);
  });
});
