import { describe, expect, it } from "vitest";
import { backOfficeRoutes } from "../../src/back-office/routes.ts";
import { fieldsOf, operationOf } from "../../src/cli/commands/command.ts";
import { COMMANDS } from "../../src/cli/commands/commands.ts";

/** Operations without a command of their own, with the reason. */
const WITHOUT_COMMAND = {
  importProducts: "`product import` reads a file",
  exposeProduct: "`product expose` takes one product or many",
  exposeProducts: "as above",
  withdrawProduct: "`product withdraw` takes one product or many",
  withdrawProducts: "as above",
  exportOrders: "`order export` writes a file",
  exportAuditEntries: "`audit export` pages through the list, however long the log is",
  exportWork: "`work-list list --format csv`",
  getStatementCsv: "`account statement --format csv`",
  findOrders: "commands look up the partner's own ids with it",
  search: "for the command palette of the console; commands have `--search`",
  watchUpdates: "for pages that are open; a program follows the event feed of a connection",
  getStripeMethod: "set up together with Stripe, not at a terminal",
  setStripeMethod: "as above",
  deleteStripeMethod: "as above",
};

const routeOf = (operationId: string) => backOfficeRoutes.find((route) => route.operationId === operationId);

type ObjectSchema = {
  required?: string[];
  properties?: Record<string, ObjectSchema>;
  anyOf?: ObjectSchema[];
};

/** Whether a schema has a member, or the member of a member. */
function hasMember(schema: ObjectSchema | undefined, path: string): boolean {
  const [name = "", ...rest] = path.split(".");
  const member = schema?.properties?.[name];
  if (member === undefined || rest.length === 0) return member !== undefined;
  return hasMember(member, rest.join("."));
}

describe("what commands know about the operations of the back office", () => {
  it.each(backOfficeRoutes.map((route) => [route.operationId, route] as const))(
    "is what the route of %s takes",
    (operationId, { method, path, summary, query, body }) => {
      const names = (schema: unknown) => Object.keys((schema as ObjectSchema | undefined)?.properties ?? {});
      const known = operationOf(operationId);
      expect({ ...known, query: [...known.query].sort() }).toEqual({
        method,
        path,
        summary,
        query: names(query).sort(),
        requiredQuery: (query as ObjectSchema | undefined)?.required ?? [],
        requiredMembers: body === undefined ? null : ((body as ObjectSchema).required ?? []),
      });
    },
  );
});

describe("the commands that are one request", () => {
  it("exist for every operation of the back office that has none of another kind", () => {
    const operations = [...COMMANDS.map(({ operationId }) => operationId), ...Object.keys(WITHOUT_COMMAND)];
    expect(operations.sort()).toEqual(backOfficeRoutes.map(({ operationId }) => operationId).sort());
  });

  it.each(COMMANDS.map((command) => [command.words, command] as const))(
    "%s has options for what its route takes, and for nothing else",
    (_words, command) => {
      const { query, body } = routeOf(command.operationId) ?? {};
      const names = fieldsOf(command).map(({ name }) => name);
      for (const name of names) {
        const found = [query, body].filter((schema) => hasMember(schema as ObjectSchema | undefined, name));
        expect(found, `${name} is a parameter of the query or a member of the body`).toHaveLength(1);
      }
      const taken = [query, body].flatMap((schema) =>
        Object.keys((schema as ObjectSchema | undefined)?.properties ?? {}),
      );
      expect([...new Set(names.map((name) => name.split(".")[0]))].sort()).toEqual(taken.sort());
    },
  );

  it.each(COMMANDS.map((command) => [command.words, command] as const))(
    "%s has a table if its route has pages",
    (_words, { operationId, columns }) => {
      const pages = hasMember(routeOf(operationId)?.query as ObjectSchema | undefined, "cursor");
      if (pages) expect(columns).toBeDefined();
    },
  );
});
