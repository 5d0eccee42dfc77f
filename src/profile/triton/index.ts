import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { TritonParser } from "./parse.ts";
import { parseTritonLine } from "./prefix.ts";

/** NVIDIA Triton Inference Server. */
export const triton: Profile = {
  name: "triton",
  title: "NVIDIA Triton Inference Server",
  upstream:
    "triton-inference-server common/src/logging.cc, server/src/http_server.cc at e1db8a60, core at 73aad7c3 (26.09)",
  jsonKeys: [],
  firstCharacters: "IWEFDV0123456789",
  rank: "specific",
  tells: [],
  figures: ["requests received (with --log-verbose=1)", "failures"],
  cannotTell: [
    "Finished requests, latencies, statuses and tokens: no line at any level holds them.",
    "Requests received, without `--log-verbose=1`, and those over gRPC.",
  ],
  claims(line: Line): boolean {
    // other programs log in glog's format too; Triton's own sources are C++ named .cc
    return parseTritonLine(line.text, line.readMs)?.file.endsWith(".cc") === true;
  },
  open: (context) => new TritonParser(context),
};
