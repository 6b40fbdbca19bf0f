import { describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { allOperations, operationOf } from "../../src/cli/commands/command.ts";
import { COMMANDS } from "../../src/cli/commands/commands.ts";
import { createProgram, type SpecialCommands } from "../../src/cli/program.ts";

type ObjectSchema = {
  required?: string[];
  properties?: Record<string, ObjectSchema>;
};
const requiredOf = (schema: unknown) => (schema as ObjectSchema | undefined)?.required ?? [];
const namesOf = (schema: unknown) =>
  Object.keys((schema as ObjectSchema | undefined)?.properties ?? {}).sort();

/** It ends with the client. A program follows the event feed of a connection. */
const STREAM = "watchUpdates";
const routes = backOfficeRoutes.filter(({ operationId }) => operationId !== STREAM);

describe("what the command line knows about the operations of the back office", () => {
  it("is each of them but the endless one", () => {
    const known = [...allOperations().keys()];
    expect(known).toEqual(expect.arrayContaining(routes.map(({ operationId }) => operationId)));
    expect(known).not.toContain(STREAM);
  });

  it.each(routes.map((route) => [route.operationId, route] as const))(
    "is what the route of %s takes",
    (operationId, { method, path, summary, query, body }) => {
      const { fields, ...known } = operationOf(operationId);
      expect(known).toMatchObject({ method, path, summary, takesJson: body !== undefined });
      const inQuery = fields.filter((field) => field.in === "query");
      expect(inQuery.map(({ name }) => name).sort()).toEqual(namesOf(query));
      expect(inQuery.filter(({ isRequired }) => isRequired).map(({ name }) => name)).toEqual(
        requiredOf(query),
      );
      const inBody = fields.filter((field) => field.in === "body");
      expect([...new Set(inBody.map(({ name }) => name.split(".")[0]))].sort()).toEqual(namesOf(body));
      expect([
        ...new Set(inBody.filter(({ isRequired }) => isRequired).map(({ name }) => name.split(".")[0])),
      ]).toEqual(requiredOf(body).filter((name) => inBody.some((field) => field.name.startsWith(name))));
    },
  );
});

describe("the commands that are one request", () => {
  it.each(COMMANDS.map((command) => [command.words, command] as const))(
    "%s has a table if its route has pages",
    (_words, { operationId, columns }) => {
      if (operationOf(operationId).hasPages) expect(columns).toBeDefined();
    },
  );

  it.each([...allOperations().keys()])("api %s has an option for each field", (operationId) => {
    const none = { writeOut: () => undefined, writeErr: () => undefined };
    const program = createProgram(["api", operationId], none, async () => undefined, {} as SpecialCommands);
    const api = program.commands.find((command) => command.name() === "api");
    const options = api?.commands[0]?.options.map(({ long }) => long);
    for (const { name } of operationOf(operationId).fields) expect(options).toContain(`--${name}`);
  });
});
