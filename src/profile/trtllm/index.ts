import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { TrtllmParser } from "./parse.ts";
import { parseTrtllmLine } from "./prefix.ts";

/** TensorRT-LLM: `trtllm-serve`, and its C++ runtime inside other servers. */
export const trtllm: Profile = {
  name: "trtllm",
  title: "TensorRT-LLM",
  upstream: "tensorrt_llm _torch/pyexecutor/py_executor.py at 00043967 (mid-2026), logger.py at 027cd518",
  jsonKeys: [],
  firstCharacters: "[",
  rank: "specific",
  tells: [],
  figures: [
    "host step",
    "device step",
    "iterations",
    "context and generation tokens",
    "scheduled",
    "KV cache usage",
    "failures",
  ],
  cannotTell: [
    "Anything of a single request: no line describes one.",
    "Iterations, without `print_iter_log: true`.",
    "Whole token counts under attention data parallelism: the first rank's iterations are counted, the others' are its echo otherwise.",
  ],
  claims: (line: Line): boolean => parseTrtllmLine(line.text, UTC) !== undefined,
  open: (context) => new TrtllmParser(context),
};
