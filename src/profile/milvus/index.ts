import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isTime, parseAccess } from "./access.ts";
import { parseComponent } from "./component.ts";
import { MilvusParser } from "./parse.ts";

/** Milvus: the proxy's access log and the log of its components. */
export const milvus: Profile = {
  name: "milvus",
  title: "Milvus",
  upstream: "milvus-io/milvus: configs/milvus.yaml, internal/proxy/accesslog, internal/proxy/impl.go; pingcap/log text",
  jsonKeys: ["caller"],
  firstCharacters: "[<0123456789",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["retrieval", "errors"],
  cannotTell: [
    "Requests, where the access log is off (the default): the component log names slow and failed ones only.",
    "The tenant, unless each has a database of its own.",
    "Scores and the number of hits.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    const first = text.charCodeAt(0);
    if (first === 123) return parseComponent(line, UTC) !== undefined;
    const timed = first === 91 ? isTime(text.slice(1, 26)) : first >= 48 && first <= 57 && isTime(text);
    if (!timed && !text.startsWith("[ACCESS]") && !(first === 60 && text.includes("[status: "))) return false;
    return parseComponent(line, UTC) !== undefined || parseAccess(text, UTC) !== undefined;
  },
  open: (context) => new MilvusParser(context),
};
