import { expect, test } from "vitest";
import { maskMessage } from "../../../src/template/masks.ts";

test.for([
  { name: "addresses", text: "from 10.0.0.1:80 and /10.0.0.2", out: "from <ip_port> and /<ip>" },
  { name: "an address inside a host name", text: "(62.9.1.2.dsl.example.at)", out: "(<host>)" },
  { name: "UUID", text: "[req-38101a0b-2096-447d-96ea-a692162415ae]", out: "[req-<uuid>]" },
  { name: "URL", text: "GET http://a.example/v1?x=1, done", out: "GET <url>, done" },
  { name: "e-mail", text: "user=ann@example.com;", out: "user=<email>;" },
  { name: "paths", text: "open /a/b.txt in C:\\x\\y", out: "open <path> in <path>" },
  { name: "one step is no path", text: "Resolved to /default-rack", out: "Resolved to /default-rack" },
  { name: "sizes and durations", text: "took 12ms for 4.5GiB in 3s", out: "took <duration> for <size> in <duration>" },
  { name: "hexadecimal", text: "at 0x1f of a64f992bc", out: "at <hex> of <hex>" },
  { name: "hosts", text: "via proxy.example.com:5070 db-1.svc", out: "via <host_port> <host>" },
  { name: "a source file is no host", text: "(Foo.java:123)", out: "(Foo.java:<number>)" },
  { name: "times", text: "2026-12-01 04:05:06.7", out: "<datetime> <time>" },
  {
    name: "numbers keep their words",
    text: "blk_-52 uid=0 node7 90%",
    out: "blk_<number> uid=<number> node<number> <number>",
  },
  { name: "a digit between letters is spelling", text: "jk2_init() Slf4jLogger", out: "jk2_init() Slf4jLogger" },
])("maskMessage: $name", ({ text, out }) => {
  expect(maskMessage(text)).toBe(out);
});

test("no text takes long", () => {
  const hostile = ["1", "a", "1a", "a.", "a1.", "/", "/a", "a-", "0:", ":", "a@", "1.", "x/", "a://", "\\", "-", "<*>"];
  for (const piece of hostile) {
    const text = piece.repeat(20_000);
    const start = performance.now();
    maskMessage(text);
    expect(performance.now() - start, piece).toBeLessThan(250);
  }
});
