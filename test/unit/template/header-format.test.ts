import { expect, test } from "vitest";
import { headerFormat } from "../../../src/template/header-format.ts";

test.for([
  { name: "fields by blanks", format: "<Date> <Time> <Level> <Content>", line: "d  t  INFO a  b ", out: "a  b" },
  {
    name: "an optional part, present",
    format: "<Month> <Date> <Time> <Level> <Component>(\\[<PID>\\])?: <Content>",
    line: "Jun 14 15:16:01 combo sshd(pam_unix)[19939]: failure: x",
    out: "failure: x",
  },
  {
    name: "an optional part, missing, though it occurs in the message",
    format: "<Month> <Date> <Time> <Level> <Component>(\\[<PID>\\])?: <Content>",
    line: "Jun 14 15:16:01 combo kernel: foo [x]: bar",
    out: "foo [x]: bar",
  },
  {
    name: "escaped and plain brackets",
    format: "\\[<Time>\\] [<Level>] <Content>",
    line: "[Sun Dec 04 04:47:44 2005] [error] x [y] z",
    out: "x [y] z",
  },
  { name: "bars", format: "<Time>\\|<Component>\\|<Pid>\\|<Content>", line: "1|a b|3|c|d", out: "c|d" },
  { name: "another header", format: "<A>: <Content>", line: "nothing here", out: undefined },
])("headerFormat: $name", ({ format, line, out }) => {
  expect(headerFormat(format)(line)).toBe(out);
});

test.for(["<A> <B>", "<A><Content>", "a)? <Content>"])("headerFormat refuses %s", (format) => {
  expect(() => headerFormat(format)).toThrow(RangeError);
});
