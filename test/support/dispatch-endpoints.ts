import { expect } from "vitest";
import { byService } from "../../src/audit/record-audit.ts";
import { clearNextBatch } from "../../src/webhooks/endpoints/clearings.ts";
import { pauseByRequest } from "../../src/webhooks/endpoints/pause.ts";
import type { Partner } from "./builders.ts";
import { connectionKey } from "./orders.ts";
import type { TestService } from "./test-service.ts";
import { createEndpoint, endpointPath, uuidIn } from "./webhooks.ts";

/** The endpoints of a history, by their position. */
export class HistoryEndpoints {
  readonly #test: TestService;
  readonly #partner: Partner;
  readonly #ids: string[];
  readonly #deleted = new Set<number>();
  /** Paused or deleted when the current command began. */
  #stopped = new Set<number>();

  private constructor(test: TestService, partner: Partner, ids: string[]) {
    this.#test = test;
    this.#partner = partner;
    this.#ids = ids;
  }

  /** @param inFlightMax of each endpoint */
  static async create(
    test: TestService,
    partner: Partner,
    inFlightMax: readonly number[],
  ): Promise<HistoryEndpoints> {
    const ids: string[] = [];
    for (const [index, maxInFlight] of inFlightMax.entries())
      ids.push((await createEndpoint(partner, { url: `http://receiver/${index}`, maxInFlight })).id);
    return new HistoryEndpoints(test, partner, ids);
  }

  positions(): number[] {
    return [...this.#ids.keys()];
  }

  positionOf(id: string): number {
    return this.#ids.indexOf(id);
  }

  isStopped(endpoint: number): boolean {
    return this.#stopped.has(endpoint);
  }

  /** From now on deliveries may be sent to it. */
  mayResume(endpoint: number): void {
    if (!this.#deleted.has(endpoint)) this.#stopped.delete(endpoint);
  }

  async resume(endpoint: number): Promise<void> {
    const { status } = await this.#partner.client.post(this.#pathOf(endpoint, "resume"));
    expect([200, 404]).toContain(status); // 404 if it has been deleted.
  }

  async recover(endpoint: number, since: Date): Promise<void> {
    const { status } = await this.#partner.client.post(this.#pathOf(endpoint, "recover"), {
      since: since.toISOString(),
    });
    expect([202, 404]).toContain(status);
  }

  async pause(endpoint: number): Promise<void> {
    await pauseByRequest(this.#test.context, this.#keyOf(endpoint), byService("pauseWebhookEndpoint"));
  }

  async delete(endpoint: number): Promise<void> {
    const { status } = await this.#partner.client.request("DELETE", this.#pathOf(endpoint));
    expect([204, 404]).toContain(status);
    this.#deleted.add(endpoint);
  }

  /** Removes one row of what is due at an endpoint that was paused or deleted. */
  async clearOne(endpoint: number): Promise<void> {
    await clearNextBatch(this.#test.context, this.#keyOf(endpoint), 1);
  }

  async clearAll(): Promise<void> {
    for (const endpoint of this.positions())
      while ((await clearNextBatch(this.#test.context, this.#keyOf(endpoint))) > 0);
  }

  async noticeStopped(): Promise<void> {
    this.#stopped = new Set(this.#deleted);
    for (const endpoint of this.positions()) {
      const { body } = await this.#partner.client.get(this.#pathOf(endpoint));
      if (body.status === "paused") this.#stopped.add(endpoint);
    }
  }

  #pathOf(endpoint: number, operation?: string): string {
    return endpointPath(this.#ids[endpoint] ?? "", operation);
  }

  #keyOf(endpoint: number) {
    return { ...connectionKey(this.#partner), id: uuidIn("whe", this.#ids[endpoint] ?? "") };
  }
}
