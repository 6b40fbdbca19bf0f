import { describe, expect, it } from "vitest";
import { connectionsOf } from "../../../src/service/open-service.ts";
import { processNames } from "../../../src/service/supervised.ts";

const ALL = ["api", "back-office", "worker"] as const;
const command = (processes: number, ...roles: (typeof ALL)[number][]) => ({
  processes,
  roles: new Set(roles.length === 0 ? ALL : roles),
});

describe("PROCESSES", () => {
  it("counts the processes of the api, beside one back office, and a worker for each four", () => {
    expect(processNames(command(2))).toEqual(["back-office", "api-1", "api-2", "worker-1"]);
    expect(processNames(command(8)).filter((name) => name.startsWith("worker"))).toEqual([
      "worker-1",
      "worker-2",
    ]);
    expect(processNames(command(3, "api"))).toEqual(["api-1", "api-2", "api-3"]);
  });

  it("counts the workers without the api; there is one back office", () => {
    expect(processNames(command(2, "worker"))).toEqual(["worker-1", "worker-2"]);
    expect(processNames(command(4, "back-office", "worker"))).toHaveLength(5);
    expect(processNames(command(4, "back-office"))).toEqual(["back-office"]);
  });

  it("needs as many connections as docs/operation.md says", () => {
    expect(connectionsOf(command(1))).toBe(55);
    expect(connectionsOf(command(2))).toBe(2 * 30 + 16 + 19);
    expect(connectionsOf(command(8))).toBe(8 * 30 + 16 + 2 * 19);
    expect(connectionsOf(command(1, "api"))).toBe(30);
    expect(connectionsOf(command(3, "worker"))).toBe(3 * 19);
  });
});
