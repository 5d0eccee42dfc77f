import { type FailureRecord, RequestRecord } from "../../model/record.ts";

/** When, and by which model, something happened to a task. */
export interface TaskMoment {
  readonly timeMs: number;
  readonly model: string | undefined;
}

export function newRequest(id: string, at: TaskMoment): RequestRecord {
  const request = new RequestRecord();
  request.id = id;
  request.timeMs = at.timeMs;
  request.model = at.model;
  return request;
}

/** A client that went away. */
export const leftFailure = (text: string, at: TaskMoment, requestId: string | undefined): FailureRecord => ({
  kind: "failure",
  timeMs: at.timeMs,
  text,
  cause: "client_cancelled",
  model: at.model,
  requestId,
});
