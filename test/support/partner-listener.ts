import { createPartnerApi } from "../../src/partner-api/app.ts";
import type { Config } from "../../src/platform/config.ts";
import { createMetrics, type Metrics } from "../../src/platform/metrics.ts";
import type { Signals } from "../../src/platform/signals.ts";
import type { WebhookContext } from "../../src/webhooks/conditions-sql.ts";
import { createPartner, type Partner } from "./builders.ts";
import { listen } from "./sockets.ts";
import { startTestService, type TestService } from "./test-service.ts";

export type RequestHeaders = Record<string, string | string[]>;

/** The partner API on a port of this machine, for clients that send bytes, and a partner who may use it. */
export type PartnerListener = {
  test: TestService;
  partner: Partner;
  app: ReturnType<typeof createPartnerApi>;
  url: string;
  authorized(): Record<string, string>;
  authorizedJson(): Record<string, string>;
  close(): Promise<void>;
};

export async function startPartnerListener(
  options: {
    config?: Partial<Config>;
    log?: WebhookContext["log"];
    metrics?: Metrics;
    stopping?: AbortSignal;
  } = {},
): Promise<PartnerListener> {
  const { config = {}, log, metrics = createMetrics(), stopping } = options;
  const test = await startTestService({ config });
  const partner = await createPartner(test);
  const signals = localSignals(); // So that a poll need not wait for its own checks.
  const app = createPartnerApi(
    { ...test.context, signals, ...(log && { log }), ...(stopping && { stopping }) },
    metrics,
  );
  const url = await listen(app);
  const authorized = () => ({ authorization: `Bearer ${partner.key}` });
  return {
    test,
    partner,
    app,
    url,
    authorized,
    authorizedJson: () => ({ ...authorized(), "content-type": "application/json" }),
    close: async () => {
      await app.close();
      await test.close();
    },
  };
}

/** Signals within a process. */
function localSignals(): Signals {
  const watching = new Set<Parameters<Signals["watch"]>[0]>();
  return {
    send(signal, connections) {
      const keys = [...connections];
      for (const { onSignal } of watching) onSignal(signal, keys);
    },
    sendOrders: () => undefined,
    watch(handlers) {
      watching.add(handlers);
      return async () => void watching.delete(handlers);
    },
  };
}
