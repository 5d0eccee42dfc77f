import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import { cluster } from "../../../src/cli/cluster.ts";

const GOLDEN = path.join(import.meta.dirname, "../../golden/failures");
const INPUT = path.join(GOLDEN, "labelled.jsonl");
const BASELINE = path.join(GOLDEN, "traffic.jsonl");
const folder = mkdtempSync(path.join(tmpdir(), "cluster-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, lines: readonly string[]): string {
  const full = path.join(folder, name);
  writeFileSync(full, `${lines.join("\n")}\n`);
  return full;
}

async function run(input: string, options: { baseline?: string; json?: boolean } = {}) {
  let out = "";
  let err = "";
  const io = {
    out: (text: string) => void (out += text),
    err: (text: string) => void (err += text),
    outTty: false,
    errTty: false,
    columns: 100,
  };
  const exitCode = await cluster(
    { input, json: options.json ?? true, ...(options.baseline === undefined ? {} : { baseline: options.baseline }) },
    io,
  );
  return { exitCode, out, err, lines: out.trimEnd().split("\n") };
}

interface Found {
  readonly id: string;
  readonly cluster: string;
  readonly cause: string;
  readonly template_id: string;
}

test("one line a record in order, then the explanations", async () => {
  const { exitCode, err, lines } = await run(INPUT, { baseline: BASELINE });
  expect([exitCode, err, lines.length]).toEqual([0, "", 398]);
  const records = lines.slice(0, -1).map((line) => JSON.parse(line) as Found);
  expect(records.map(({ id }) => id)).toEqual(records.map((_, index) => `t${String(index).padStart(4, "0")}`));
  expect(records[0]).toEqual({
    id: "t0000",
    cluster: "model_not_found",
    cause: "model_not_found",
    template_id: expect.stringMatching(/^t[0-9a-f]{13}$/),
  });
  const { explanations } = JSON.parse(lines.at(-1) ?? "") as { explanations: Record<string, object[]> };
  expect(explanations["gpu_oom"]?.[0]).toMatchObject({ attribute: "gpu", value: "GPU-3", count: 19 });
  expect(Object.keys(explanations["gpu_oom"]?.[0] ?? {})).toEqual([
    "attribute",
    "value",
    "count",
    "share",
    "baseline_share",
  ]);
});

test("labels are not read, and the order of records changes no id", async () => {
  const rows = readFileSync(INPUT, "utf8").trim().split("\n");
  const bare = rows.map((line) => {
    const { id, raw, fields } = JSON.parse(line) as Record<string, unknown>;
    return JSON.stringify({ id, raw, fields });
  });
  const byId = (lines: readonly string[]): Found[] =>
    lines
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Found)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  const [plain, turned] = [await run(INPUT), await run(file("turned.jsonl", bare.reverse()))];
  expect(byId(turned.lines)).toEqual(byId(plain.lines));
});

test("unknown failures are called after their group", async () => {
  const { lines } = await run(
    file("unknown.jsonl", [
      '{"id":"a","raw":"license check failed: license for feature sso expired on 2026-05-30","fields":{}}',
      '{"id":"b","raw":"license server: license expired, feature audit refused","fields":{}}',
      '{"id":"c","raw":"kitchen sink dropped","fields":{}}',
    ]),
  );
  const [a, b, c] = lines.map((line) => JSON.parse(line) as Found);
  expect(a?.cause).toBe("unknown");
  expect(a?.cluster).toMatch(/^unknown\/t[0-9a-f]{13}$/);
  expect(b?.cluster).toBe(a?.cluster);
  expect(c?.cluster).not.toBe(a?.cluster);
});

test("a broken line is left out and told", async () => {
  const { exitCode, err, lines } = await run(
    file("broken.jsonl", ['{"id":"a","raw":"CUDA out of memory"}', "{", '{"id":"b"}']),
  );
  expect([exitCode, lines.length]).toEqual([1, 2]);
  expect(err).toBe('tokentail: 2 lines are no JSON objects with "raw"; left out\n');
});

test("without --json a table, largest first", async () => {
  const { lines } = await run(INPUT, { baseline: BASELINE, json: false });
  expect(lines[0]).toBe("       31  7.81 %  rate_limited");
  expect(lines[2]).toBe("                   tenant batchly: 90.3 % of these, 8 % of other traffic");
});

test("a file that is not there", async () => {
  await expect(run(path.join(folder, "none.jsonl"))).rejects.toThrow(/^Cannot read ".*none.jsonl": no such file$/);
});
