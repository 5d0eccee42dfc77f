import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Where a command writes; colours and progress only where a person looks. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** True when standard output is a terminal. */
  readonly outTty: boolean;
  readonly errTty: boolean;
  /** Columns of the terminal; 100 when it is none. */
  readonly columns: number;
}

export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  outTty: process.stdout.isTTY,
  errTty: process.stderr.isTTY,
  columns: process.stdout.columns ?? 100,
};

export type Paint = (style: Style, text: string) => string;

/** Colours on a terminal that wants them (`NO_COLOR` and `FORCE_COLOR` are heeded), plain text elsewhere. */
export function painter(io: Io): Paint {
  return io.outTty ? (style, text) => styleText(style, text, { stream: process.stdout }) : (_style, text) => text;
}
