import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/** Inode of the first pid namespace (Linux `PROC_PID_INIT_INO`): in any other, writers elsewhere are not seen. */
const HOST_PID_NAMESPACE = "pid:[4026531836]";
const MAX_PROCESSES = 5000;
const ACCESS_MODE = 0o3;

/**
 * Looks through `/proc` whether a process has the file open for writing.
 *
 * @param key `device:inode`.
 * @returns Undefined when it cannot be told: another system, a container of its own, processes of other users.
 */
export function hasWriter(key: string): boolean | undefined {
  try {
    if (readlinkSync("/proc/self/ns/pid") !== HOST_PID_NAMESPACE) return undefined;
    const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
    if (processes.length > MAX_PROCESSES) return undefined;
    for (const process of processes) {
      const writes = processWrites(process, key);
      if (writes !== false) return writes;
    }
    return false;
  } catch {
    return undefined;
  }
}

function processWrites(process: string, key: string): boolean | undefined {
  let names: string[];
  try {
    names = readdirSync(`/proc/${process}/fd`);
  } catch (error) {
    // a process that has just ended writes no more; one that may not be looked at may
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? false : undefined;
  }
  for (const name of names) {
    try {
      const seen = statSync(`/proc/${process}/fd/${name}`, { bigint: true, throwIfNoEntry: false });
      if (seen === undefined || `${seen.dev}:${seen.ino}` !== key) continue;
      const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/${process}/fdinfo/${name}`, "utf8"))?.[1];
      if (flags === undefined || (Number.parseInt(flags, 8) & ACCESS_MODE) !== 0) return true;
    } catch {
      // closed in between
    }
  }
  return false;
}
