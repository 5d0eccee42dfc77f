import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { UvicornParser } from "./parse.ts";

const LEVELS = ["INFO:", "WARNING:", "ERROR:", "CRITICAL:", "DEBUG:"];

/** Lines of uvicorn itself, in a stream of whatever server runs on it. */
export const uvicorn: Profile = {
  name: "uvicorn",
  title: "uvicorn access log",
  upstream: "encode/uvicorn logging.py, protocols/http/httptools_impl.py at e6c7ce79",
  jsonKeys: [],
  firstCharacters: "IWECD",
  rank: "shared",
  tells: [],
  figures: ["HTTP status"],
  cannotTell: [
    "Time and duration of a request: the access line holds neither.",
    "Whether a streamed answer ended well: the line is written when the headers go out.",
  ],
  claims(line: Line): boolean {
    const text = line.text;
    const level = LEVELS.find((name) => text.startsWith(name));
    // uvicorn pads level and colon to ten columns
    return level !== undefined && text.length > 10 && text.slice(level.length, 10).trim() === "";
  },
  open: (context) => new UvicornParser(context),
};
