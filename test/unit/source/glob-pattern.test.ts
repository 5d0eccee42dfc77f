import { expect, test } from "vitest";
import { globRegex } from "../../../src/source/glob-pattern.ts";
import { rawPath, shownPath } from "../../../src/source/raw-path.ts";

test.for([
  { pattern: "/a/*.log", yes: ["/a/x.log", "/a/größe.log"], no: ["/a/b/x.log", "/a/.x.log", "/a/x.log.1"] },
  { pattern: "/a/**/x.log", yes: ["/a/x.log", "/a/b/x.log", "/a/b/c/x.log"], no: ["/b/x.log", "/a/bx.log"] },
  { pattern: "/a/?.log", yes: ["/a/x.log", "/a/é.log"], no: ["/a/xy.log"] },
  { pattern: "/a/[ab]*.log", yes: ["/a/ax.log", "/a/b.log"], no: ["/a/c.log"] },
  { pattern: "/a/[!ab].log", yes: ["/a/c.log"], no: ["/a/a.log"] },
  { pattern: "/{a,b}/x.{log,txt}", yes: ["/a/x.log", "/b/x.txt"], no: ["/c/x.log", "/a/x.gz"] },
  { pattern: "/a/x.(1)+.log", yes: ["/a/x.(1)+.log"], no: ["/a/x.11.log"] },
])("$pattern", ({ pattern, yes, no }) => {
  const regex = globRegex(pattern);
  expect(yes.filter((path) => !regex.test(rawPath(path)))).toEqual([]);
  expect(no.filter((path) => regex.test(rawPath(path)))).toEqual([]);
});

test.for([
  { name: "UTF-8 as it is", bytes: Buffer.from("/größe 😀"), shown: "/größe 😀" },
  {
    name: "other bytes and control characters escaped",
    bytes: Buffer.from("/\xff\xe9a\n", "latin1"),
    shown: "/\\xff\\xe9a\\x0a",
  },
  { name: "a real replacement character kept", bytes: Buffer.from("/\ufffd"), shown: "/\ufffd" },
])("a path is shown with $name", ({ bytes, shown }) => {
  expect(shownPath(bytes.toString("latin1"))).toBe(shown);
});
