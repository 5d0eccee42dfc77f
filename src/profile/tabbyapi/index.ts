import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { HEAD, OWN_MESSAGE, TabbyapiParser } from "./parse.ts";

export const tabbyapi: Profile = {
  name: "tabbyapi",
  title: "tabbyAPI",
  upstream: "tabbyAPI common/gen_logging.py, common/logger.py at e632af4 and 06ff47e2",
  jsonKeys: [],
  firstCharacters: "0123456789",
  rank: "specific",
  tells: ["finished"],
  figures: ["e2e", "queue", "tokens in", "cached tokens", "tokens out", "HTTP status", "failures"],
  cannotTell: [
    "TTFT: processing and generation are printed as rates.",
    "Model, finish reason, and whether a client left.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    if (text.charCodeAt(4) !== 45 || text.charCodeAt(10) !== 32 || text.charCodeAt(19) !== 46) return false;
    const head = HEAD.exec(text);
    return head !== null && OWN_MESSAGE.test(text.slice(head[0].length));
  },
  open: (context) => new TabbyapiParser(context),
};
