import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { expect } from "vitest";
import { WORKBOOK_TYPE } from "../../src/platform/tables/write-table.ts";

type CheckedAnswer = { status: number; headers: Record<string, unknown>; body: string };
export type AnswerCheck = (method: string, path: string, answer: CheckedAnswer) => void;

type Response = { content?: Record<string, unknown> };
type Operation = { responses: Record<string, Response & { $ref?: string }> };
type Described = {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, Response> };
};

const checks = new Map<string, AnswerCheck>();

/**
 * Checks every response of every test against the OpenAPI document of its listener. There is one checker per document,
 * because its schemas take longer to compile than most tests to run.
 */
export function answerCheckOf(description: string): AnswerCheck {
  const check = checks.get(description) ?? createAnswerCheck(JSON.parse(description));
  checks.set(description, check);
  return check;
}

function createAnswerCheck(description: Described): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormatsModule.default(ajv);
  for (const format of ["text", "country-code", "amount", "currency", "web-address"])
    ajv.addFormat(format, true);
  ajv.addSchema({ $id: "api", ...description });
  const templates = Object.keys(description.paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  const validators = new Map<string, ValidateFunction>();

  function validator(pointer: string): ValidateFunction {
    const known = validators.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    validators.set(pointer, known);
    return known;
  }

  function expectProblem(body: string): void {
    expectValid(validator("/components/schemas/Problem"), body);
    const { type, code } = JSON.parse(body);
    expect(type.split("/").at(-1), "the last segment of a problem's type is its code").toBe(code);
  }

  return (method, url, { status, headers, body }) => {
    const path = url.split("?")[0] ?? "";
    // A path without parameters comes first, as the router has it.
    const fitting = templates
      .filter(({ pattern }) => pattern.test(path))
      .sort((one, other) => one.template.split("{").length - other.template.split("{").length);
    const operationAt = ({ template }: { template: string }) =>
      description.paths[template]?.[method.toLowerCase()];
    const found = fitting.find((template) => operationAt(template) !== undefined);
    const operation = found && operationAt(found);
    expect(headers["x-request-id"], `${method} ${path} has an x-request-id`).toBeTruthy();
    if (found === undefined || operation === undefined) {
      expect(status, `${method} ${path} is no route`).toBe(404);
      return expectProblem(body);
    }
    expect(Object.keys(operation.responses), `${method} ${path} describes its status`).toContain(
      String(status),
    );
    const own = operation.responses[String(status)];
    const shared = own?.$ref?.split("/").at(-1); // Only problems are shared.
    const { content } = (shared === undefined ? own : description.components.responses[shared]) ?? {};
    if (content === undefined) return expect(body).toBe("");
    if (status >= 400) expectProblem(body);
    const mediaType = String(headers["content-type"]).split(";")[0] ?? "";
    expect(Object.keys(content), `${method} ${path} describes its media type`).toContain(mediaType);
    if (shared !== undefined) return;
    if (FILE_TYPES.includes(mediaType)) return;
    const parts = [
      "paths",
      found.template,
      method.toLowerCase(),
      "responses",
      String(status),
      "content",
      mediaType,
      "schema",
    ];
    expectValid(
      validator(parts.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")),
      body,
    );
  };
}

const FILE_TYPES = ["text/csv", "application/x-ndjson", WORKBOOK_TYPE];

function expectValid(validate: ValidateFunction, body: string): void {
  validate(JSON.parse(body));
  expect(validate.errors ?? [], `response matches its description: ${body}`).toEqual([]);
}
