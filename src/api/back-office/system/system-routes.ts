import { andMonitoring, type BackOfficeRoute, operatorOnly, route } from "../access.ts";
import { ChecksSchema, SystemSchema, toWireChecks, toWireSystem } from "./system-wire.ts";

export const systemRoutes: readonly BackOfficeRoute[] = [
  route({
    method: "GET",
    path: "/api/system",
    operationId: "getSystem",
    admits: andMonitoring(operatorOnly),
    tag: "System",
    summary: "Get the state of the service",
    description:
      "Queues with their ages, jobs with their last and next run, processes and the database, over all processes of the service. Callers at the same time share one read.",
    responses: { 200: { description: "The state.", schema: SystemSchema } },
    problems: [],
    handle: async (_request, { system }) => ({ status: 200, body: toWireSystem(await system.read()) }),
  }),
  route({
    method: "GET",
    path: "/api/system/checks",
    operationId: "getSystemChecks",
    admits: andMonitoring(operatorOnly),
    tag: "System",
    summary: "Check the service",
    description: "What the command `doctor` checks. It changes nothing.",
    responses: { 200: { description: "The results.", schema: ChecksSchema } },
    problems: [],
    handle: async (_request, { system }) => ({ status: 200, body: toWireChecks(await system.examine()) }),
  }),
];
