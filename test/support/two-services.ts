import { createPartner, type Partner } from "./builders.ts";
import { type Answer, startServiceForTest, startTestService, type TestService } from "./test-service.ts";

/**
 * Two services represent two processes: each has its own groups and database connections, and they share only the
 * database.
 */
export type TwoServices = {
  first: TestService;
  second: TestService;
  /** A new partner, at a moment at which both clocks show the same time. */
  nextPartner(): Promise<Partner>;
  close(): Promise<unknown>;
};

export async function startTwoServices(): Promise<TwoServices> {
  const first = await startTestService();
  const second = await startTestService({ databaseUrl: first.context.config.databaseUrl ?? "" });
  return {
    first,
    second,
    async nextPartner() {
      const partner = await createPartner(first);
      setClock(second, first);
      return partner;
    },
    close: () => Promise.all([second.close(), first.close()]),
  };
}

/** A second process for the database of a service, at the same time of day. For a single test. */
export async function startSecondForTest(first: TestService): Promise<TestService> {
  const second = await startServiceForTest({ databaseUrl: first.context.config.databaseUrl ?? "" });
  setClock(second, first);
  return second;
}

const setClock = ({ clock }: TestService, first: TestService): void =>
  clock.advance({ ms: first.clock.now().getTime() - clock.now().getTime() });

export const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

/** How many responses have each status. */
export const tally = (answers: readonly Pick<Answer, "status">[]) =>
  Object.fromEntries(
    [...Map.groupBy(answers, ({ status }) => status)].map(([status, group]) => [status, group.length]),
  );
