import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { frame } from "./frame-lines.ts";

const GOLDEN = path.join(import.meta.dirname, "../../golden/frame");
const BOOM = '{"message":"boom","level":"ERROR"}';
const TAB = "INFO 10-09 08:53:20 [x.py:1] tab\there";

/** The same six datagrams in three templates of rsyslog 8.2302; the same entries in four outputs of systemd 252. */
test.for([
  {
    file: "real-rsyslog-traditional.log",
    carrier: "syslog-3164",
    rows: [
      ["2026-11-30T22:51:18.000Z", "vllm", TAB],
      ["2026-11-30T22:51:18.000Z", "litellm", BOOM],
      ["2026-10-09T08:53:20.000Z", "vllm", "line1"],
      ["2026-11-30T22:51:18.000Z", undefined, "line2 red "],
      ["2026-10-09T08:53:20.000Z", "app", "hello ünï"],
      ["2026-11-30T22:51:18.000Z", undefined, "nil all"],
    ],
  },
  {
    file: "real-rsyslog-fileformat.log",
    carrier: "syslog-iso",
    rows: [
      ["2026-11-30T22:51:18.000Z", "vllm", TAB],
      ["2026-11-30T22:51:18.593Z", "litellm", BOOM],
      ["2026-10-09T08:53:20.000Z", "vllm", "line1"],
      ["2026-11-30T22:51:18.594Z", undefined, "line2 red "],
      ["2025-10-09T15:53:20.000Z", "app", "hello ünï"],
      ["2026-11-30T22:51:18.594Z", undefined, "nil all"],
    ],
  },
  {
    file: "real-rsyslog-rfc5424.log",
    carrier: "syslog-5424",
    rows: [
      ["2026-11-30T22:51:18.000Z", "vllm", TAB],
      ["2026-11-30T22:51:18.593Z", "litellm", BOOM],
      ["2026-10-09T08:53:20.000Z", "vllm", "line1"],
      // shredded by the daemon: the message stands in the host and in what was left of the tag
      ["2026-11-30T22:51:18.594Z", "#033", ""],
      ["2025-10-09T15:53:20.000Z", "app", "hello ünï"],
      ["2026-11-30T22:51:18.594Z", undefined, "nil all"],
    ],
  },
  {
    file: "real-journalctl-json.log",
    carrier: "journald-json",
    rows: [
      ["2025-10-09T08:53:20.123Z", "vllm", "INFO 10-09 08:53:20 [loggers.py:127] Engine 000: ok"],
      ["2025-10-09T08:53:21.123Z", "rag-api", "line1 red"],
      ["2025-10-09T08:53:21.123Z", "rag-api", "line2"],
    ],
  },
  {
    file: "real-journalctl-export.bin",
    carrier: "journald-export",
    rows: [
      ["2025-10-09T08:53:20.123Z", "vllm", "INFO 10-09 08:53:20 [loggers.py:127] Engine 000: ok"],
      ["2025-10-09T08:53:21.123Z", "rag-api", "line1 red"],
      ["2025-10-09T08:53:21.123Z", "rag-api", "line2"],
    ],
  },
  {
    file: "real-journalctl-short.log",
    carrier: "journald-short",
    rows: [
      ["2026-10-09T08:53:20.000Z", "vllm", "INFO 10-09 08:53:20 [loggers.py:127] Engine 000: ok"],
      ["2026-10-09T08:53:21.000Z", "rag-api", "line1 red"],
      ["2026-10-09T08:53:21.000Z", "rag-api", "line2"],
    ],
  },
  { file: "real-journalctl-json-big.log", carrier: "journald-json", rows: [] },
])("$file", ({ file, carrier, rows }) => {
  const { lines, framer } = frame(readFileSync(path.join(GOLDEN, file)));
  expect(lines.map(({ time, origin, text }) => [time, origin, text])).toEqual(rows);
  expect(framer.frame).toBe(carrier);
});

test.for([
  { file: "k8s-cri", carrier: "cri", lines: 44, records: 38 },
  { file: "docker-json-file", carrier: "docker-json", lines: 36, records: 34 },
  { file: "journald-json", carrier: "journald-json", lines: 28, records: 28 },
  { file: "journald-export", carrier: "journald-export", lines: 154, records: 14 },
  { file: "syslog-rfc3164", carrier: "syslog-3164", lines: 30, records: 30 },
  { file: "syslog-rfc5424", carrier: "syslog-5424", lines: 30, records: 30 },
])("$file: physical lines, logical lines, and every object whole", ({ file, carrier, lines: physical, records }) => {
  const { lines, framer } = frame(readFileSync(path.join(GOLDEN, `${file}.log`)));
  expect([framer.frame, framer.lines, lines.length]).toEqual([carrier, physical, records]);
  const objects = lines.filter(({ text }) => text.startsWith("{"));
  for (const { text, time } of objects) {
    const own = JSON.parse(text) as { time: string };
    if (file !== "syslog-rfc3164") expect(Math.abs(Date.parse(own.time) - Date.parse(time))).toBeLessThan(1);
  }
  expect(objects.length + lines.filter(({ text }) => !/^[{]/.test(text)).length).toBe(records);
});
