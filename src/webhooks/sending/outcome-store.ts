import { isUnavailable } from "../../database/database.ts";
import { groupCalls } from "../../database/group.ts";
import type { Service } from "../../service.ts";
import { completeDeliveries, type Reported } from "./complete-deliveries.ts";

export type OutcomeStore = {
  /** Resolves when the outcome is stored, or when it is lost with its lease: then somebody else sends again. */
  store(reported: Reported): Promise<void>;
  /** Gives up what waits for a database that is away. */
  giveUp(): void;
};

/** Outcomes of about so many deliveries are stored together. */
const TOGETHER_MAX = 256;
const AGAIN_MS = 250;

/** Stores outcomes that come in together in one step. Calls `onMoved` with the connections whose lanes have moved on. */
export function createOutcomeStore(
  service: Service,
  workerId: string,
  onMoved: (connectionIds: readonly string[]) => void,
): OutcomeStore {
  let isGivenUp = false;
  const complete = groupCalls<Reported, void>({
    run: async (reported) => {
      onMoved(await completeDeliveries(service, workerId, reported));
      return reported.map(() => undefined);
    },
    sizeMax: TOGETHER_MAX,
    concurrencyMax: 1, // Reports of an endpoint's health must be stored in their order.
  });

  /** While the database is away the outcome is kept, until the lease is over and somebody else may send again. */
  async function store(reported: Reported): Promise<void> {
    for (;;) {
      try {
        return await complete(reported);
      } catch (err) {
        const isOver = service.clock.now() >= reported.completion.delivery.leasedUntil;
        if (!isUnavailable(err) || isOver || isGivenUp) {
          service.log.error(
            { err },
            "an outcome could not be stored; its delivery is sent again after its lease",
          );
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
  }

  return {
    store,
    giveUp: () => {
      isGivenUp = true;
    },
  };
}
