import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { auditOf, QdrantAuditParser } from "./parse.ts";

/** Qdrant's audit log: who asked which collection, and who was refused. */
export const qdrantAudit: Profile = {
  name: "qdrant-audit",
  title: "Qdrant audit log",
  upstream: "qdrant/qdrant 1.19.0 at 74f3e85b94: audit.enabled, storage/audit/audit.*.log",
  jsonKeys: ["auth_type"],
  firstCharacters: "",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["tenant", "permission denied"],
  cannotTell: [
    "Durations and HTTP status: the audit log holds neither.",
    "Whether a permitted request then succeeded: `ok` is the answer of access control.",
  ],
  claims: (line: Line): boolean => auditOf(line) !== undefined,
  open: (context) => new QdrantAuditParser(context),
};
