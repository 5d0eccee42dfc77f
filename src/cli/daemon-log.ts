import { pino } from "pino";
import pretty from "pino-pretty";
import type { AppLog } from "../app.ts";
import type { Io } from "./io.ts";

/** The daemon's own log on standard error: JSON lines, or readable ones on a terminal. */
export function daemonLog(io: Io): AppLog {
  const stream = io.errTty
    ? pretty({ destination: 2, sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" })
    : pino.destination({ dest: 2, sync: true });
  return pino({ name: "tokentail", timestamp: pino.stdTimeFunctions.isoTime }, stream);
}
