import { isOutOfReach } from "../../../platform/database/database.ts";
import { type Grouped, groupCalls } from "../../../platform/database/group.ts";
import type { HealthReport } from "../../health/endpoint-health.ts";
import type { RecordedCompletion } from "./complete-deliveries.ts";

/** True: stored. Null: not stored, because the node of the merchant is down. */
type Stored = true | null;

/** Stores outcomes in one transaction. Returns whether each is stored, in the same order. */
type StoreTogether = (recorded: readonly RecordedCompletion[]) => Promise<readonly Stored[]>;

/** An outcome, with its number among those of this process. */
type Numbered = { readonly recorded: RecordedCompletion; readonly number: number };

/** An endpoint whose outcomes are stored apart from those of others. */
type EndpointApart = {
  /** Outcomes that are not stored yet. */
  count: number;
  /** The newest report about its health, and the number of its outcome. */
  newest: { readonly report: HealthReport; readonly number: number } | null;
  readonly store: Grouped<Numbered, Stored>;
};

/** Outcomes that are stored together, at most. */
const GROUP_MAX = 256;

/**
 * Stores outcomes in groups, one after the other, because the health of an endpoint must be stored in the order of its
 * outcomes. If a group fails, such as behind a lock, the outcomes of each of its endpoints are stored apart from then on,
 * until all of them are stored: in groups of their own, one after the other. So an outcome that cannot be stored delays
 * those of other endpoints once, and not with each attempt (decision 0207).
 */
export class OutcomeGroups {
  readonly #storeTogether: StoreTogether;
  readonly #apart = new Map<string, EndpointApart>();
  readonly #shared: Grouped<Numbered, Stored | "apart">;
  #count = 0;

  constructor(storeTogether: StoreTogether) {
    this.#storeTogether = storeTogether;
    this.#shared = groupCalls<Numbered, Stored | "apart">({
      name: "store outcomes",
      run: (all) => this.#runShared(all),
      sizeMax: GROUP_MAX,
      concurrencyMax: 1,
    });
  }

  /** Returns what stores an outcome, which can be repeated after an error, and what ends it. */
  begin(recorded: RecordedCompletion): { store: () => Promise<Stored>; end: () => void } {
    this.#count += 1;
    const numbered = { recorded, number: this.#count };
    let joined: EndpointApart | null = null;
    return {
      store: async () => {
        if (joined === null && !this.#isApart(numbered)) {
          const outcome = await this.#shared(numbered);
          if (outcome !== "apart") return outcome;
        }
        joined ??= this.#join(numbered);
        return joined.store(numbered);
      },
      end: () => {
        if (joined === null) return;
        joined.count -= 1;
        if (joined.count === 0) this.#apart.delete(endpointIdOf(numbered));
      },
    };
  }

  /** Outcomes that wait for this group when their endpoint is set apart are not part of it. */
  async #runShared(all: readonly Numbered[]): Promise<(Stored | "apart")[]> {
    const isAside = all.map((one) => this.#isApart(one));
    const together = all.filter((_, index) => !isAside[index]);
    try {
      const stored = (await this.#storeTogether(together.map(({ recorded }) => recorded))).values();
      return isAside.map((aside) => (aside ? "apart" : (stored.next().value ?? null)));
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      return all.map(() => "apart");
    }
  }

  #isApart(one: Numbered): boolean {
    return this.#apart.has(endpointIdOf(one));
  }

  #join(one: Numbered): EndpointApart {
    const endpoint = this.#apart.get(endpointIdOf(one)) ?? this.#setApart();
    this.#apart.set(endpointIdOf(one), endpoint);
    endpoint.count += 1;
    const report = one.recorded.health;
    const newestNumber = endpoint.newest?.number ?? 0;
    if (report !== null && one.number > newestNumber) endpoint.newest = { report, number: one.number };
    return endpoint;
  }

  #setApart(): EndpointApart {
    const endpoint: EndpointApart = {
      count: 0,
      newest: null,
      store: groupCalls<Numbered, Stored>({
        name: "store outcomes apart",
        run: async (all) => [
          ...(await this.#storeTogether(all.map((one) => withNewest(one, endpoint.newest)))),
        ],
        sizeMax: GROUP_MAX,
        concurrencyMax: 1,
      }),
    };
    return endpoint;
  }
}

const endpointIdOf = ({ recorded }: Numbered): string => recorded.completion.delivery.endpointId;

/** An outcome that is stored later than a newer one must not undo its health. */
function withNewest({ recorded, number }: Numbered, newest: EndpointApart["newest"]): RecordedCompletion {
  if (recorded.health === null || newest === null || newest.number <= number) return recorded;
  return { ...recorded, health: { ...recorded.health, health: newest.report.health } };
}
