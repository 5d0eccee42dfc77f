import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { auditOf } from "./audit.ts";
import { isOwn, parseJson, parseText } from "./event.ts";
import { OpenWebuiParser } from "./parse.ts";

/** Open WebUI's application log and audit log. */
export const openWebui: Profile = {
  name: "open-webui",
  title: "Open WebUI",
  upstream: "open-webui/open-webui: backend/open_webui/utils/{logger,audit}.py",
  jsonKeys: ["audit_level", "caller"],
  firstCharacters: "0123456789",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["HTTP status", "tokens (audit log)", "model (audit log)", "errors"],
  cannotTell: [
    "Durations: neither log holds any.",
    "Tokens and model, unless the audit log keeps whole bodies (`REQUEST_RESPONSE`, `MAX_BODY_LOG_SIZE`).",
    "Whether an audited request succeeded, below `REQUEST_RESPONSE`: it is counted as answered.",
  ],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    if (first === 123) {
      if (auditOf(line) !== undefined) return true;
      const event = parseJson(line, UTC);
      return event !== undefined && isOwn(event);
    }
    if (!(first >= 48 && first <= 57)) return false;
    const event = parseText(line.text, UTC);
    return event !== undefined && isOwn(event);
  },
  open: (context) => new OpenWebuiParser(context),
};
