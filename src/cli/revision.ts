import { readFileSync } from "node:fs";
import path from "node:path";

/** The commit this checkout stands at (twelve digits), or `unknown` for a build without one. */
export function revision(root: string = path.join(import.meta.dirname, "../..")): string {
  try {
    const head = readFileSync(path.join(root, ".git/HEAD"), "utf8").trim();
    if (!head.startsWith("ref: ")) return head.slice(0, 12);
    const ref = head.slice(5);
    return resolveRef(root, ref).slice(0, 12) || "unknown";
  } catch {
    return "unknown";
  }
}

function resolveRef(root: string, ref: string): string {
  try {
    return readFileSync(path.join(root, ".git", ref), "utf8").trim();
  } catch {
    const packed = readFileSync(path.join(root, ".git/packed-refs"), "utf8");
    return (
      packed
        .split("\n")
        .find((line) => line.endsWith(` ${ref}`))
        ?.split(" ")[0] ?? ""
    );
  }
}
