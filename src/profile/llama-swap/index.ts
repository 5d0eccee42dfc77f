import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isRequestLine, LlamaSwapParser } from "./parse.ts";

export const llamaSwap: Profile = {
  name: "llama-swap",
  title: "llama-swap",
  upstream: "llama-swap proxy/proxymanager.go, proxy/logMonitor.go at 0bdb3720",
  jsonKeys: [],
  firstCharacters: "R[0123456789MTWFSJAOND",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: ["e2e", "HTTP status"],
  cannotTell: [
    "The model of a request, its tokens and TTFT.",
    "How much of E2E was loading the model.",
    "A client that left, before the versions that write 499.",
  ],
  claims: (line: Line): boolean => isRequestLine(line.text),
  open: (context) => new LlamaSwapParser(context),
};
