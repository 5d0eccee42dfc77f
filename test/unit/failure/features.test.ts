import { expect, test } from "vitest";
import { classifyFailure } from "../../../src/failure/classify.ts";
import { FEATURES, featuresOfFailure, featuresOfRequest } from "../../../src/failure/features.ts";
import { type FailureRecord, RequestRecord } from "../../../src/model/record.ts";

const known = (attributes: object): object =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));

test("a failure's features come from its record, its request and its text, in that order", () => {
  const request = Object.assign(new RequestRecord(), {
    model: "m-request",
    tenant: "acme",
    tokensIn: 900,
    retries: 2,
    stream: true,
    route: "/v1/chat/completions",
  });
  const failure: FailureRecord = {
    kind: "failure",
    timeMs: 0,
    text: "CUDA out of memory. GPU 3",
    httpStatus: 500,
    model: "m-failure",
  };
  const features = featuresOfFailure(failure, classifyFailure(failure.text), request);
  expect(known(features)).toEqual({
    http_status: 500,
    context_tokens: 900,
    model: "m-failure",
    tenant: "acme",
    retries: 2,
    gpu: "3",
    route: "/v1/chat/completions",
    stream: true,
  });
  expect(Object.keys(features).sort()).toEqual([...FEATURES].sort());
});

test("what nobody tells is left out, never zero or false", () => {
  const failure: FailureRecord = { kind: "failure", timeMs: 0, text: "something failed" };
  expect(known(featuresOfFailure(failure, classifyFailure(failure.text)))).toEqual({});
  expect(known(featuresOfRequest(new RequestRecord()))).toEqual({});
});
