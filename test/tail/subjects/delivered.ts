/** Lines that came out of a subject, counted. */
export class Delivered {
  readonly lines = new Map<string, number>();
  #rest = "";

  line(text: string): void {
    if (text !== "") this.lines.set(text, (this.lines.get(text) ?? 0) + 1);
  }

  /** Text as it came: cut at newlines, as the subject's users do. */
  text(chunk: string): void {
    const parts = (this.#rest + chunk).split("\n");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) this.line(part);
  }

  end(): void {
    this.line(this.#rest);
    this.#rest = "";
  }
}
