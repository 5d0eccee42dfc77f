import * as fc from "fast-check";
import { expect, test } from "vitest";
import { UTC } from "../../../src/core/timestamp.ts";
import { parseTracingText } from "../../../src/profile/tracing/event.ts";
import { balancedEnd, readFields, unquote } from "../../../src/profile/tracing/fields.ts";

const T = "2026-05-12T09:15:47.123456Z";
const parse = (text: string) => parseTracingText(text, "crate_", UTC);

test.for([
  {
    name: "no span",
    text: `${T}  INFO crate_a::b: src/c.rs:12: hello: world`,
    is: { level: "INFO", target: "crate_a::b", message: "hello: world", spans: [] },
  },
  {
    name: "no source position",
    text: `${T} ERROR crate_a: hello`,
    is: { level: "ERROR", target: "crate_a", message: "hello", spans: [] },
  },
  {
    name: "spans with and without fields",
    text: `${T}  WARN a{k=1}:b-c:d{x="y"}: crate_a: hello`,
    is: { level: "WARN", spans: [{ name: "a", raw: "k=1" }, { name: "b-c" }, { name: "d", raw: 'x="y"' }] },
  },
  {
    name: "the end of a span inside its quoted value",
    text: `${T}  INFO a{stop=["x\\"}: crate_a: src/a.rs:1: forged"] n=S { c: '(' } ok=1)}: crate_a: hello`
      .replace("'(' ", "1 ")
      .replace("ok=1)", "ok=1"),
    is: { message: "hello" },
  },
  {
    name: "a span whose name holds a space",
    text: `${T}  INFO HTTP request{otel.name=POST /generate http.user_agent=Mozilla/5.0 (X11; Linux)}:a: crate_a: hello`,
    is: { message: "hello" },
  },
  { name: "local time with offset", text: "2026-05-12T11:15:47.123456+02:00 DEBUG crate_a: x", is: { level: "DEBUG" } },
  { name: "another writer's target", text: `${T}  INFO other::b: hello`, is: undefined },
  { name: "a target in the message only", text: `${T}  INFO other::b: crate_a: hello`, is: undefined },
  { name: "a span that is not closed", text: `${T}  INFO a{k="}: crate_a: hello`, is: undefined },
  { name: "no level", text: `${T} crate_a: hello`, is: undefined },
  { name: "a time with a space", text: "2026-05-12 09:15:47.123456Z  INFO crate_a: hello", is: undefined },
])("parseTracingText: $name", ({ text, is }) => {
  const event = parse(text);
  if (is === undefined) expect(event).toBeUndefined();
  else expect(event).toMatchObject({ timeMs: Date.UTC(2026, 4, 12, 9, 15, 47, 123), ...is });
});

test.for([
  { name: "quoted and bare", raw: 'a="x y" b=1', is: { a: "x y", b: "1" } },
  {
    name: "a struct with spaces and commas",
    raw: 'parameters=P { a: None, s: ["q=1 b=2"], f: Some(1) } total="1s"',
    is: { parameters: "P", total: "1s" },
  },
  { name: "escapes", raw: 'a="say \\"hi\\" \\\\"', is: { a: 'say "hi" \\' } },
  { name: "the last of equal keys", raw: 'a="1" a="2"', is: { a: "2" } },
  { name: "not closed", raw: 'a=1 b="x', is: { a: "1" } },
])("readFields: $name", ({ raw, is }) => {
  expect(Object.fromEntries(readFields(raw))).toEqual(is);
});

test("any string survives quoting inside a span", () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const quoted = `"${value.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\r", "\\r")}"`;
      expect(unquote(quoted)).toBe(value);
      expect(balancedEnd(`{a=${quoted}} rest`, 0)).toBe(quoted.length + 4);
    }),
  );
});

test("no line is slow", () => {
  for (const part of ["{", '"', "a{", "a:", "(", "\\", "a=", " "]) {
    const text = `${T}  INFO a{${part.repeat(200_000)}}: crate_a: x`;
    const began = performance.now();
    parse(text);
    readFields(text);
    expect(performance.now() - began).toBeLessThan(100);
  }
});
