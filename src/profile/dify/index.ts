import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isJson, parseText } from "./event.ts";
import { DifyParser } from "./parse.ts";

/** Dify's API and worker. */
export const dify: Profile = {
  name: "dify",
  title: "Dify",
  upstream:
    "langgenius/dify: api/configs/feature, api/extensions/ext_logging.py, api/core/logging/structured_formatter.py",
  jsonKeys: ["severity"],
  firstCharacters: "0123456789",
  rank: "specific",
  tells: [],
  figures: ["HTTP status of outbound calls", "errors"],
  cannotTell: ["Requests, tokens, cost and durations: they are in Dify's database.", "The tenant, in the text format."],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    if (first === 123) return isJson(line);
    return first >= 48 && first <= 57 && parseText(line.text) !== undefined;
  },
  open: (context) => new DifyParser(context),
};
