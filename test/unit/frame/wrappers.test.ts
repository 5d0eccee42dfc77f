import { expect, test } from "vitest";
import { frame, texts } from "./frame-lines.ts";

const T = "2026-03-02T17:00:00.669000423Z";
const MS = "2026-03-02T17:00:00.669Z";
const docker = (log: string, stream = "stdout", time = T): string => `${JSON.stringify({ log, stream, time })}\n`;
const journal = (fields: Record<string, unknown>): string =>
  `${JSON.stringify({ __REALTIME_TIMESTAMP: "1772470800669000", __CURSOR: "s=1;i=1", ...fields })}\n`;
const ACCESS = 'INFO:     10.0.0.1:41234 - "POST /v1/chat/completions HTTP/1.1" 200 OK';
const TGI = "2026-03-02T17:00:00.627902Z  INFO text_generation_router::server: ok";

interface Row {
  readonly name: string;
  readonly log: string | Buffer;
  readonly lines: readonly string[];
  readonly frame: string;
  /** Time and origin of the first line. */
  readonly time?: string;
  readonly origin?: string;
}

const check = ({ log, lines, frame: carrier, time, origin }: Row): void => {
  const found = frame(log);
  expect(found.lines.map(({ text }) => text)).toEqual(lines);
  expect(found.framer.frame).toBe(carrier);
  if (time !== undefined) expect(found.lines[0]?.time).toBe(time);
  if (origin !== undefined) expect(found.lines[0]?.origin).toBe(origin);
};

test.for<Row>([
  { name: "F is a whole line", log: `${T} stdout F hello\n`, lines: ["hello"], frame: "cri", time: MS },
  { name: "an empty content is an empty line", log: `${T} stdout F \n`, lines: [""], frame: "cri" },
  { name: "the blank before an empty content may be missing", log: `${T} stdout F\n`, lines: [""], frame: "cri" },
  {
    name: "P is joined with the F of its stream, without a newline, and has the time of the first part",
    log: `${T} stdout P a\n2026-03-02T17:00:09Z stdout P b\n2026-03-02T17:00:10Z stdout F c\n`,
    lines: ["abc"],
    frame: "cri",
    time: MS,
  },
  {
    name: "parts of both streams interleave",
    log: `${T} stdout P a\n${T} stderr P 1\n${T} stdout F b\n${T} stderr F 2\n`,
    lines: ["ab", "12"],
    frame: "cri",
  },
  {
    name: "a whole line of the other stream passes an open part",
    log: `${T} stdout P a\n${T} stderr F whole\n${T} stdout F b\n`,
    lines: ["whole", "ab"],
    frame: "cri",
  },
  {
    name: "a character cut in two survives",
    log: Buffer.concat([
      Buffer.from(`${T} stdout P k`),
      Buffer.from([0xf0, 0x9f]),
      Buffer.from(`\n${T} stdout F `),
      Buffer.from([0x98, 0x80]),
      Buffer.from("z\n"),
    ]),
    lines: ["k😀z"],
    frame: "cri",
  },
  { name: "more tags may follow", log: `${T} stdout P:more a\n${T} stdout F:more:x b\n`, lines: ["ab"], frame: "cri" },
  {
    name: "the fraction has no digit",
    log: "2026-03-02T17:00:00Z stderr F x\n",
    lines: ["x"],
    frame: "cri",
    time: "2026-03-02T17:00:00.000Z",
  },
  {
    name: "the fraction has one digit",
    log: "2026-03-02T17:00:00.5Z stderr F x\n",
    lines: ["x"],
    frame: "cri",
    time: "2026-03-02T17:00:00.500Z",
  },
  {
    name: "the time has an offset",
    log: "2026-03-02T19:30:00.25+02:30 stdout F x\n",
    lines: ["x"],
    frame: "cri",
    time: "2026-03-02T17:00:00.250Z",
  },
  { name: "a carriage return goes", log: `${T} stdout F a\r\n`, lines: ["a"], frame: "cri" },
  {
    name: "the last frame of a progress bar is its line",
    log: `${T} stderr F \r 10%\r 20%\n`,
    lines: [" 20%"],
    frame: "cri",
  },
  {
    name: "a bar over several parts too",
    log: `${T} stderr P \r 10%\r 2\n${T} stderr F 0%\r 30%\n`,
    lines: [" 30%"],
    frame: "cri",
  },
  { name: "leading blanks are content", log: `${T} stderr F   File "x.py"\n`, lines: ['  File "x.py"'], frame: "cri" },
  {
    name: "an open part is delivered at the end",
    log: `${T} stdout P last words\n`,
    lines: ["last words"],
    frame: "cri",
  },
  {
    name: "another stream name is no CRI",
    log: "2026-03-02T17:00:00Z stdin F x\n",
    lines: ["2026-03-02T17:00:00Z stdin F x"],
    frame: "plain",
  },
  {
    name: "another tag is no CRI",
    log: "2026-03-02T17:00:00Z stdout X x\n",
    lines: ["2026-03-02T17:00:00Z stdout X x"],
    frame: "plain",
  },
  {
    name: "an application's time and level keep their place",
    log: `${T} stdout F ${TGI}\n`,
    lines: [TGI],
    frame: "cri",
  },
])("CRI: $name", check);

test.for<Row>([
  { name: "the newline of an entry goes", log: docker("hello\n"), lines: ["hello"], frame: "docker-json", time: MS },
  { name: "an empty line is a line", log: docker("\n"), lines: [""], frame: "docker-json" },
  {
    name: "chunks without newline are joined by stream",
    log: docker("a") + docker("1", "stderr") + docker("b\n") + docker("2\n", "stderr"),
    lines: ["ab", "12"],
    frame: "docker-json",
  },
  { name: "a terminal's carriage return goes", log: docker("a\r\n"), lines: ["a"], frame: "docker-json" },
  {
    name: "escapes are read",
    log: docker('<b>"&"\u2028\u001b[31mred\u001b[0m\t\n'),
    lines: ['<b>"&"\u2028red\t'],
    frame: "docker-json",
  },
  {
    name: "attributes may follow",
    log: '{"log":"x\\n","stream":"stderr","attrs":{"tag":"vllm"},"time":"2026-03-02T17:00:00.669000423Z"}\n',
    lines: ["x"],
    frame: "docker-json",
    time: MS,
  },
  {
    name: "an omitted log is an empty chunk",
    log: `${docker("a")}{"stream":"stdout","time":"${T}"}\n${docker("b\n")}`,
    lines: ["ab"],
    frame: "docker-json",
  },
  {
    name: "blanks between the members do not matter",
    log: `{"log": "x\\n", "stream": "stdout", "time": "${T}"}\n`,
    lines: ["x"],
    frame: "docker-json",
  },
  {
    name: "an entry torn inside its text is read as far as it goes",
    log: `${docker("a\n")}{"log":"torn te`,
    lines: ["a", "torn te"],
    frame: "docker-json",
  },
  {
    name: "an entry torn behind its text is whole",
    log: `${docker("a\n")}{"log":"b\\n","stream":"std`,
    lines: ["a", "b"],
    frame: "docker-json",
  },
  {
    name: "Docker goes on behind a torn entry in the same line",
    log: `{"log":"torn\\u00${docker("next\n")}`,
    lines: ["torn", "next"],
    frame: "docker-json",
  },
  {
    name: "what cannot be read of a damaged line is delivered as it stands",
    log: `${docker("a\n")}{"log":"b\\q","stream":"stdout"}\n`,
    lines: ["a", '{"log":"b\\q","stream":"stdout"}'],
    frame: "docker-json",
  },
  {
    name: "an open chunk is delivered at the end",
    log: docker("last words"),
    lines: ["last words"],
    frame: "docker-json",
  },
  ...[
    '{"log":"x","stream":"stdout","time":"2026-03-02T17:00:00Z","kubernetes":{"pod":"a"}}',
    '{"log":"x","level":"info"}',
    '{"log":"x","stream":"stdout"}',
    '{"log":{"level":"info"},"stream":"stdout","time":"2026-03-02T17:00:00Z"}',
    '{"log":"x","stream":"requests","time":"2026-03-02T17:00:00Z"}',
    '{"log":"x","stream":"stdout","time":1772470800}',
    '{"log":"half an ob',
    '{"stream":true,"time":"2026-03-02T17:00:00Z","model":"m"}',
  ].map((line) => ({
    name: `an application's object stays: ${line}`,
    log: `${line}\n`,
    lines: [line],
    frame: "plain",
  })),
])("docker json-file: $name", check);

test.for<Row>([
  {
    name: "message, time and identifier",
    log: journal({ MESSAGE: "hello", SYSLOG_IDENTIFIER: "vllm", _SYSTEMD_UNIT: "vllm.service", PRIORITY: "6" }),
    lines: ["hello"],
    frame: "journald-json",
    time: MS,
    origin: "vllm",
  },
  {
    name: "the unit, when there is no identifier",
    log: journal({ MESSAGE: "x", _SYSTEMD_UNIT: "a.service" }),
    lines: ["x"],
    frame: "journald-json",
    origin: "a.service",
  },
  {
    name: "the container before both",
    log: journal({ MESSAGE: "x", SYSLOG_IDENTIFIER: "4f4f", CONTAINER_NAME: "vllm" }),
    lines: ["x"],
    frame: "journald-json",
    origin: "vllm",
  },
  {
    name: "bytes",
    log: journal({ MESSAGE: [...Buffer.from("\u001b[31mréd\u001b[0m")] }),
    lines: ["réd"],
    frame: "journald-json",
  },
  {
    name: "bytes of several lines",
    log: journal({ MESSAGE: [...Buffer.from("a\nb\n")] }),
    lines: ["a", "b"],
    frame: "journald-json",
  },
  { name: "text of several lines", log: journal({ MESSAGE: "a\n  b" }), lines: ["a", "  b"], frame: "journald-json" },
  {
    name: "an object over several lines is one",
    log: journal({ MESSAGE: '{\n  "a": 1\n}' }),
    lines: ['{\n  "a": 1\n}'],
    frame: "journald-json",
  },
  {
    name: "repeated messages",
    log: journal({ MESSAGE: ["a", [98, 10, 99]] }),
    lines: ["a", "b", "c"],
    frame: "journald-json",
  },
  { name: "a message withheld is no line", log: journal({ MESSAGE: null }), lines: [], frame: "journald-json" },
  { name: "an empty message is an empty line", log: journal({ MESSAGE: "" }), lines: [""], frame: "journald-json" },
  {
    name: "any order of fields",
    log: '{"PRIORITY":"6","MESSAGE":"x","__REALTIME_TIMESTAMP":"1772470800669000"}\n',
    lines: ["x"],
    frame: "journald-json",
  },
  {
    name: "blanks of old versions",
    log: '{ "__CURSOR" : "s=1", "__REALTIME_TIMESTAMP" : "1772470800669000", "MESSAGE" : "x" }\n',
    lines: ["x"],
    frame: "journald-json",
  },
  { name: "json-seq", log: `\u001e${journal({ MESSAGE: "x" })}`, lines: ["x"], frame: "journald-json" },
  { name: "json-sse", log: `data: ${journal({ MESSAGE: "x" })}\n`, lines: ["x", ""], frame: "journald-json" },
  {
    name: "a container's line cut at 16 KiB is joined",
    log:
      journal({ MESSAGE: "a", CONTAINER_ID: "1", CONTAINER_PARTIAL_MESSAGE: "true" }) +
      journal({ MESSAGE: "other", CONTAINER_ID: "2" }) +
      journal({ MESSAGE: "b", CONTAINER_ID: "1" }),
    lines: ["other", "ab"],
    frame: "journald-json",
  },
  {
    name: "a service's line cut at 48 KiB is joined",
    log:
      journal({ MESSAGE: "a", _STREAM_ID: "1", _LINE_BREAK: "line-max" }) + journal({ MESSAGE: "b", _STREAM_ID: "1" }),
    lines: ["ab"],
    frame: "journald-json",
  },
  ...[
    '{"MESSAGE":"x","PRIORITY":"6"}',
    '{"MESSAGE":"x","level":"info"}',
    '{"__typename":"Query","a":1}',
    '{"Level":"info"}',
  ].map((line) => ({
    name: `an application's object stays: ${line}`,
    log: `${line}\n`,
    lines: [line],
    frame: "plain",
  })),
])("journald json: $name", check);

const binary = (name: string, value: Buffer): Buffer => {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(value.length));
  return Buffer.concat([Buffer.from(`${name}\n`), length, value, Buffer.from("\n")]);
};
const exported = (message: string | Buffer, more = ""): Buffer =>
  Buffer.concat([
    Buffer.from(`__CURSOR=s=1;i=1\n__REALTIME_TIMESTAMP=1772470800669000\nSYSLOG_IDENTIFIER=vllm\n${more}`),
    typeof message === "string" ? Buffer.from(`MESSAGE=${message}\n`) : binary("MESSAGE", message),
    Buffer.from("\n"),
  ]);

test.for<Row>([
  { name: "a text field", log: exported("a=b"), lines: ["a=b"], frame: "journald-export", time: MS, origin: "vllm" },
  {
    name: "a binary field",
    log: exported(Buffer.from("a\nb")),
    lines: ["a", "b"],
    frame: "journald-export",
    origin: "vllm",
  },
  {
    name: "a binary field with blank lines is no end of the entry",
    log: exported(Buffer.from("a\n\nMESSAGE=x\n\n")),
    lines: ["a", "", "MESSAGE=x", ""],
    frame: "journald-export",
  },
  // the length itself is a newline character
  ...[0, 1, 9, 10, 11, 13, 256, 2560].map((length) => ({
    name: `a binary field of ${length} bytes`,
    log: exported(Buffer.alloc(length, "x")),
    lines: ["x".repeat(length)],
    frame: "journald-export",
  })),
  {
    name: "a binary field of no interest may hold anything",
    log: Buffer.concat([
      Buffer.from("__CURSOR=1\n"),
      binary("COREDUMP", Buffer.from([0, 10, 13, 10, 255, 10, 10, 0])),
      Buffer.from("MESSAGE=x\n\n"),
      exported("y"),
    ]),
    lines: ["x", "y"],
    frame: "journald-export",
  },
  {
    name: "a field with carriage returns and NULs keeps its length",
    log: Buffer.concat([exported(Buffer.from("\0a\r\nb\r")), exported("y")]),
    lines: ["a", "b", "y"],
    frame: "journald-export",
  },
  {
    name: "a repeated message is two lines",
    log: exported("a", "MESSAGE=first\n"),
    lines: ["first", "a"],
    frame: "journald-export",
  },
  {
    name: "the last entry may lack its blank line",
    log: exported("a").subarray(0, -1),
    lines: ["a"],
    frame: "journald-export",
  },
  {
    name: "an entry without a message is no line",
    log: "__CURSOR=1\nPRIORITY=6\n\n",
    lines: [],
    frame: "journald-export",
  },
  {
    name: "a container's line cut at 16 KiB is joined",
    log: Buffer.concat([
      exported("a", "CONTAINER_ID=1\nCONTAINER_PARTIAL_MESSAGE=true\n"),
      exported("b", "CONTAINER_ID=1\n"),
    ]),
    lines: ["ab"],
    frame: "journald-export",
  },
  {
    name: "another format may follow",
    log: Buffer.concat([exported("a"), Buffer.from(`${ACCESS}\r\nPATH=/bin\n`)]),
    lines: ["a", ACCESS, "PATH=/bin"],
    frame: "mixed",
  },
  {
    name: "an entry that another format interrupts is delivered first",
    log: Buffer.concat([exported("a").subarray(0, -1), Buffer.from("plain text\n")]),
    lines: ["a", "plain text"],
    frame: "mixed",
  },
  {
    name: "a length that cannot be is no field",
    log: Buffer.concat([Buffer.from("__CURSOR=1\nMESSAGE\n"), Buffer.alloc(8, 0xff), Buffer.from("x\nplain\n")]),
    lines: ["\ufffd".repeat(8) + "x", "plain"],
    frame: "mixed",
  },
  {
    name: "assignments alone are plain",
    log: "PATH=/bin\nHOME=/root\n\n__FOO=1\n",
    lines: ["PATH=/bin", "HOME=/root", "", "__FOO=1"],
    frame: "plain",
  },
])("journald export: $name", check);

test.for<Row>([
  {
    name: "short",
    log: "Oct 09 08:53:20 gpu-01 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "journald-short",
    time: "2026-10-09T08:53:20.000Z",
    origin: "vllm",
  },
  {
    name: "short-precise",
    log: "Oct 19 08:53:20.123456 gpu-01 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "journald-short",
    time: "2026-10-19T08:53:20.123Z",
  },
  {
    name: "short-iso",
    log: "2026-10-09T08:53:20+0000 gpu-01 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "syslog-iso",
    time: "2026-10-09T08:53:20.000Z",
  },
  {
    name: "short-iso-precise",
    log: "2026-10-09T10:53:20.123456+02:00 gpu-01 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "syslog-iso",
    time: "2026-10-09T08:53:20.123Z",
  },
  {
    name: "short-full",
    log: "Fri 2026-10-09 08:53:20 UTC gpu-01 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "journald-short",
    time: "2026-10-09T08:53:20.000Z",
  },
  {
    name: "short-unix",
    log: "1791535999.123456 gpu-01 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "journald-short",
    time: "2026-10-09T08:53:19.123Z",
  },
  {
    name: "short-monotonic",
    log: "[   12.345678] gpu-01 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "journald-short",
    time: "-",
  },
  {
    name: "no host",
    log: "Oct 09 08:53:20 vllm[4242]: hello\n",
    lines: ["hello"],
    frame: "journald-short",
    origin: "vllm",
  },
  {
    name: "further lines of a message stand below its first, deeper ones keep what is theirs",
    log: "Oct 09 08:53:21 gpu-01 rag[77]: line1\n                                line2\n                                  line3\n",
    lines: ["line1", "line2", "  line3"],
    frame: "journald-short",
    time: "2026-10-09T08:53:21.000Z",
    origin: "rag",
  },
  {
    name: "an indented line after another is its own",
    log: "Oct 09 08:53:21 gpu-01 rag[77]: line1\nplain\n                                line2\n",
    lines: ["line1", "plain", "                                line2"],
    frame: "mixed",
  },
  {
    name: "a day of two digits is the journal's when another says so",
    log: "Oct 09 08:53:20 h a[1]: x\nOct 10 08:53:20 h a[1]: y\n",
    lines: ["x", "y"],
    frame: "journald-short",
  },
])("journald short: $name", check);

test.for<Row>([
  {
    name: "traditional",
    log: "Oct  9 08:53:20 gpu-01 vllm[1]: line1\n",
    lines: ["line1"],
    frame: "syslog-3164",
    time: "2026-10-09T08:53:20.000Z",
    origin: "vllm",
  },
  {
    name: "a priority in front",
    log: "<134>Oct 19 08:53:20 gpu-01 vllm[1]: line1\n",
    lines: ["line1"],
    frame: "syslog-3164",
    origin: "vllm",
  },
  {
    name: "a day of two digits",
    log: "Oct 19 08:53:20 gpu-01 vllm[1]: line1\n",
    lines: ["line1"],
    frame: "syslog-3164",
  },
  {
    name: "no process id",
    log: "Oct  9 08:53:20 gpu-01 vllm: line1\n",
    lines: ["line1"],
    frame: "syslog-3164",
    origin: "vllm",
  },
  {
    name: "the kernel",
    log: "Oct  9 08:53:20 gpu-01 kernel: [12.5] NVRM: Xid\n",
    lines: ["[12.5] NVRM: Xid"],
    frame: "syslog-3164",
    origin: "kernel",
  },
  {
    name: "a tag of Docker's",
    log: "Oct  9 08:53:20 h docker/vllm[1]: x\n",
    lines: ["x"],
    frame: "syslog-3164",
    origin: "docker/vllm",
  },
  {
    name: "facility and level of busybox",
    log: "Oct  9 08:53:20 h user.info vllm[1]: x\n",
    lines: ["x"],
    frame: "syslog-3164",
    origin: "vllm",
  },
  { name: "an empty message", log: "Oct  9 08:53:20 h vllm[1]:\n", lines: [""], frame: "syslog-3164", origin: "vllm" },
  {
    name: "indentation is content",
    log: 'Oct  9 08:53:20 h vllm[1]:   File "x.py"\n',
    lines: ['  File "x.py"'],
    frame: "syslog-3164",
  },
  {
    name: "a uvicorn line without a tag keeps its level",
    log: `<14>Oct  9 08:53:20 h ${ACCESS}\n`,
    lines: [ACCESS],
    frame: "syslog-3164",
  },
  {
    name: "a level is no tag",
    log: "<14>Oct  9 08:53:20 h INFO 10-09 08:53:20 [x.py:1] m\n",
    lines: ["INFO 10-09 08:53:20 [x.py:1] m"],
    frame: "syslog-3164",
  },
  {
    name: "an exception is no tag",
    log: "<11>Oct  9 08:53:20 h torch.OutOfMemoryError: CUDA out of memory\n",
    lines: ["torch.OutOfMemoryError: CUDA out of memory"],
    frame: "syslog-3164",
  },
  {
    name: "a traceback's head is no tag",
    log: "<11>Oct  9 08:53:20 h Traceback (most recent call last):\n",
    lines: ["Traceback (most recent call last):"],
    frame: "syslog-3164",
  },
  {
    name: "a llama.cpp line without a tag is whole",
    log: "<11>Oct  9 08:53:20 h slot print_timing: id  0\n",
    lines: ["slot print_timing: id  0"],
    frame: "syslog-3164",
  },
  {
    name: "escaped control characters are read",
    log: "Oct  9 08:53:20 h a[1]: x#011y#012  z #033[31mred#033[0m#000\n",
    lines: ["x\ty", "  z red"],
    frame: "syslog-3164",
  },
  {
    name: "an object that is whole keeps its text",
    log: 'Oct  9 08:53:20 h a[1]: {"msg":"see #012"}\n',
    lines: ['{"msg":"see #012"}'],
    frame: "syslog-3164",
  },
  {
    name: "an object over several lines is one",
    log: 'Oct  9 08:53:20 h a[1]: {#012  "a": 1#012}\n',
    lines: ['{\n  "a": 1\n}'],
    frame: "syslog-3164",
  },
  {
    name: "a byte order mark goes",
    log: "Oct  9 08:53:20 192.0.2.1 app[8710] \ufeffhello üñï\n",
    lines: ["hello üñï"],
    frame: "syslog-3164",
    origin: "app",
  },
  {
    name: "the RSYSLOG_FileFormat",
    log: "2026-11-30T22:51:18.593999+00:00 vm vllm[42]: x\n",
    lines: ["x"],
    frame: "syslog-iso",
    time: "2026-11-30T22:51:18.593Z",
    origin: "vllm",
  },
  {
    name: "the RSYSLOG_FileFormat with a priority",
    log: "<13>2026-11-30T22:51:18Z vm vllm: x\n",
    lines: ["x"],
    frame: "syslog-iso",
    origin: "vllm",
  },
  {
    name: "the kernel in it",
    log: "2026-11-30T22:51:18.593999+00:00 vm kernel: NVRM: Xid\n",
    lines: ["NVRM: Xid"],
    frame: "syslog-iso",
    origin: "kernel",
  },
  {
    name: "RFC 5424 with nils",
    log: "<14>1 - - - - - - hello\n",
    lines: ["hello"],
    frame: "syslog-5424",
    time: "-",
  },
  {
    name: "RFC 5424 with structured data, escapes in it and a byte order mark",
    log: '<165>1 2025-10-09T08:53:20.000003-07:00 h app 8710 ID47 [ex@1 a="b]\\]\\"c"][x@2 k="v"] \ufeffhello\n',
    lines: ["hello"],
    frame: "syslog-5424",
    time: "2025-10-09T15:53:20.000Z",
    origin: "app",
  },
  {
    name: "RFC 5424 without a message",
    log: '<14>1 2026-03-02T17:00:00Z h app 1 - [a@1 b="c"]\n',
    lines: [""],
    frame: "syslog-5424",
    origin: "app",
  },
  {
    name: "RFC 5424 with the blank of the old format",
    log: "<14>1 2026-03-02T17:00:00Z h app 1 - -  INFO x\n",
    lines: ["INFO x"],
    frame: "syslog-5424",
  },
  {
    name: "RFC 5424 with an indented message",
    log: "<14>1 2026-03-02T17:00:00Z h app 1 - -   File x\n",
    lines: ["  File x"],
    frame: "syslog-5424",
  },
  {
    name: "octet counting",
    log: "40 <14>1 2026-03-02T17:00:00Z h app 1 - - x\n",
    lines: ["x"],
    frame: "syslog-5424",
    origin: "app",
  },
  {
    name: "a wrong octet count does not cut the message",
    log: "38 <14>1 2026-03-02T17:00:00Z h app 1 - - xyz\n",
    lines: ["xyz"],
    frame: "syslog-5424",
  },
  {
    name: "octet counting, several in a line",
    log: `${["ab", "cde"]
      .map((text) => `<14>1 2026-03-02T17:00:00Z h app 1 - - ${text}`)
      .map((m) => `${m.length} ${m}`)
      .join("")}\n`,
    lines: ["ab", "cde"],
    frame: "syslog-5424",
  },
  {
    name: "a priority alone",
    log: "<6>[   12.5] NVRM: Xid (PCI:0000:01:00): 79\n",
    lines: ["[   12.5] NVRM: Xid (PCI:0000:01:00): 79"],
    frame: "syslog-priority",
  },
  ...["<192>Oct  9 08:53:20 h a[1]: x", "<|im_start|>user", "<1234>x", "<a>", "<13> x", "<14>1"].map((line) => ({
    name: `no priority: ${line}`,
    log: `${line}\n`,
    lines: line === "<14>1" ? ["1"] : [line],
    frame: line === "<14>1" ? "syslog-priority" : "plain",
  })),
])("syslog: $name", check);

test.for<Row>([
  { name: "a numbered service", log: `vllm-1  | ${ACCESS}\n`, lines: [ACCESS], frame: "compose", origin: "vllm-1" },
  { name: "a padded name", log: "rag-1        | x\n", lines: ["x"], frame: "compose", origin: "rag-1" },
  { name: "version 1", log: "vllm_1 | x\n", lines: ["x"], frame: "compose", origin: "vllm_1" },
  {
    name: "a container with a name of its own",
    log: "litellm  | x\n",
    lines: ["x"],
    frame: "compose",
    origin: "litellm",
  },
  { name: "an empty line", log: "vllm-1  | \nvllm-1  |\n", lines: ["", ""], frame: "compose" },
  { name: "coloured", log: "\u001b[36mvllm-1  | \u001b[0mx\n", lines: ["x"], frame: "compose", origin: "vllm-1" },
  { name: "with times", log: `vllm-1  | ${T} x\n`, lines: ["x"], frame: "compose+docker-logs", time: MS },
  { name: "docker logs -t", log: `${T} ${ACCESS}\n`, lines: [ACCESS], frame: "docker-logs", time: MS },
  { name: "docker logs -t of a Rust server", log: `${T} ${TGI}\n`, lines: [TGI], frame: "docker-logs", time: MS },
  {
    name: "docker logs -t of a traceback",
    log: `${T}   File "x.py"\n`,
    lines: ['  File "x.py"'],
    frame: "docker-logs",
  },
  { name: "docker logs -t of an empty line", log: `${T} \n`, lines: [""], frame: "docker-logs" },
  {
    name: "podman logs -t",
    log: "2026-03-02T19:00:00.669000423+02:00 x\n",
    lines: ["x"],
    frame: "docker-logs",
    time: MS,
  },
  {
    name: "Docker Desktop before a time with its zone",
    log: `2026-03-02 18:00:00 ${TGI}\n`,
    lines: [TGI],
    frame: "docker-desktop",
  },
  {
    name: "kubectl logs --prefix",
    log: "[pod/rag-api-7d9c5b7f4-x2x9p/api] x\n",
    lines: ["x"],
    frame: "kubectl",
    origin: "api",
  },
  {
    name: "kubectl logs --prefix --timestamps",
    log: `[pod/vllm-0/vllm] ${T} x\n`,
    lines: ["x"],
    frame: "kubectl+docker-logs",
    time: MS,
    origin: "vllm",
  },
  { name: "stern", log: "rag-api-7d9c5b7f4-x2x9p api x\n", lines: ["x"], frame: "stern", origin: "api" },
])("prefix: $name", check);

test.for<Row>([
  {
    name: "docker-json in CRI",
    log: `${T} stdout F ${docker("x\n", "stderr", "2026-03-02T17:00:09Z")}`,
    lines: ["x"],
    frame: "cri+docker-json",
    time: "2026-03-02T17:00:09.000Z",
  },
  {
    name: "compose in journald",
    log: journal({ MESSAGE: "vllm-1  | x", SYSLOG_IDENTIFIER: "docker" }),
    lines: ["x"],
    frame: "journald-json+compose",
    origin: "vllm-1",
  },
  {
    name: "compose in syslog",
    log: "Oct  9 08:53:20 h docker[1]: vllm-1  | x\n",
    lines: ["x"],
    frame: "syslog-3164+compose",
    origin: "vllm-1",
  },
  {
    name: "docker-json in syslog",
    log: `Oct  9 08:53:20 h tail[1]: ${docker("x\n")}`,
    lines: ["x"],
    frame: "syslog-3164+docker-json",
    time: MS,
  },
  {
    name: "syslog in CRI: the time with a year and a zone wins",
    log: `${T} stdout F Oct  9 08:53:20 h app[1]: x\n`,
    lines: ["x"],
    frame: "cri+syslog-3164",
    time: MS,
    origin: "app",
  },
  {
    name: "syslog in docker-json",
    log: docker("<14>Mar  2 16:59:59 h app[1]: x\n"),
    lines: ["x"],
    frame: "docker-json+syslog-3164",
    time: MS,
    origin: "app",
  },
  {
    name: "journald in CRI",
    log: `${T} stdout F ${journal({ MESSAGE: "x", SYSLOG_IDENTIFIER: "a" })}`,
    lines: ["x"],
    frame: "cri+journald-json",
    origin: "a",
  },
  { name: "CRI in docker-json", log: docker(`${T} stdout F x\n`), lines: ["x"], frame: "docker-json+cri" },
  {
    name: "CRI parts in docker-json chunks",
    log: docker(`${T} stdout P a`) + docker("b\n") + docker(`${T} stdout F c\n`),
    lines: ["abc"],
    frame: "docker-json+cri",
  },
  {
    name: "docker-json chunks in CRI parts",
    log: `${T} stdout P ${docker("a").slice(0, 20)}\n${T} stdout F ${docker("a").slice(20)}${T} stdout F ${docker("b\n")}`,
    lines: ["ab"],
    frame: "cri+docker-json",
  },
  {
    name: "CRI around an object with a log of its own",
    log: `${T} stdout F {"log":"x","level":"info"}\n`,
    lines: ['{"log":"x","level":"info"}'],
    frame: "cri",
  },
  { name: "docker logs -t is none inside CRI", log: `${T} stdout F ${T} x\n`, lines: [`${T} x`], frame: "cri" },
  {
    name: "what a message of another line carries is not looked for in the middle",
    log: `INFO got ${docker("x\n").trim()} and vllm-1  | y\n`,
    lines: [`INFO got ${docker("x\n").trim()} and vllm-1  | y`],
    frame: "plain",
  },
])("nesting: $name", check);

test("a year's end belongs to the old year, and the next line to the new one", () => {
  const log = "Dec 31 23:59:59 h a[1]: x\nJan  1 00:00:01 h a[1]: y\n";
  const { lines } = frame(log, { readMs: Date.UTC(2027, 0, 1, 0, 5) });
  expect(lines.map(({ time }) => time)).toEqual(["2026-12-31T23:59:59.000Z", "2027-01-01T00:00:01.000Z"]);
});

test("times without a zone are read in the zone given", () => {
  const { lines } = frame("Oct  9 08:53:20 h a[1]: x\n", { zone: () => 120 });
  expect(lines[0]?.time).toBe("2026-10-09T06:53:20.000Z");
});

test("a stream is named by what carries 95 % of its lines", () => {
  const cri = `${T} stdout F x\n`;
  expect(frame(cri.repeat(95) + "plain\n".repeat(5)).framer.frame).toBe("cri");
  expect(frame(cri.repeat(94) + "plain\n".repeat(6)).framer.frame).toBe("mixed");
  expect(frame("plain\n".repeat(95) + cri.repeat(5)).framer.frame).toBe("plain");
  expect(frame("").framer.frame).toBe("plain");
});

test("a byte order mark at the head goes", () => {
  expect(texts("\ufeffhello\nb\n")).toEqual(["hello", "b"]);
});

test("withheld messages are counted", () => {
  expect(frame(journal({ MESSAGE: null })).framer.withheld).toBe(1);
});
