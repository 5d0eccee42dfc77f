/** One log stream: a file and its successors through rotation, standard input, a journal unit, a container. */
export interface StreamInfo {
  /** Path or name as the user knows it. */
  readonly name: string;
  /** Labels from the configuration or the path (`service_name`, `namespace`, `pod`, …). */
  readonly labels: Readonly<Record<string, string>>;
  /** `auto`, or the only profile to use. */
  readonly profile: string;
}
