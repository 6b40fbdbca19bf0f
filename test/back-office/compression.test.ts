import { gunzipSync } from "node:zlib";
import { beforeAll, expect, it, onTestFinished } from "vitest";
import { createHealthListener } from "../../src/back-office/health.ts";
import { createMetrics } from "../../src/platform/metrics.ts";
import { createExposedProduct, createPartner } from "../support/builders.ts";
import { OPERATOR_TOKEN, startTestService, type TestService } from "../support/test-service.ts";

let test: TestService;
let path: string;
beforeAll(async () => {
  test = await startTestService();
  const { merchantId, connectionId } = await createPartner(test);
  for (let count = 0; count < 5; count += 1) await createExposedProduct(test, merchantId, connectionId);
  path = `/api/merchants/${merchantId}/products`;
  return test.close;
});

const read = (url: string, encodings?: string) =>
  test.inject({
    url,
    headers: {
      authorization: `Bearer ${OPERATOR_TOKEN}`,
      ...(encodings === undefined ? {} : { "accept-encoding": encodings }),
    },
  });

it.each(["gzip", "gzip, deflate, br", "br;q=1, gzip;q=0.5", "deflate,GZIP"])(
  "compresses a list for a client that accepts %s",
  async (encodings) => {
    const [plain, compressed] = [await read(path), await read(path, encodings)];
    expect(compressed.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body);
    expect(compressed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
  },
);

it.each([undefined, "", "identity", "br", "gzip;q=0", "gzip; q=0.0, br", "xgzip"])(
  "does not for a client that sends Accept-Encoding: %s",
  async (encodings) => {
    const { headers, body } = await read(path, encodings);
    expect(headers["content-encoding"]).toBeUndefined();
    expect(headers.vary).toBe("accept-encoding");
    expect(JSON.parse(body).data).toHaveLength(7);
  },
);

it("compresses the metrics, also of a process without the back office", async () => {
  const health = createHealthListener(test.context, createMetrics());
  onTestFinished(() => health.close());
  const request = { url: "/metrics", headers: { "accept-encoding": "gzip" } };
  for (const answer of [await test.inject(request), await health.inject(request)]) {
    expect(answer.headers).toMatchObject({ "content-encoding": "gzip", vary: "accept-encoding" });
    expect(gunzipSync(answer.rawPayload).toString()).toContain("partner_orders_build_info");
  }
});

it("leaves short responses as they are", async () => {
  const { headers } = await read("/api/merchants/mer_01m7y7np16fe68bxp4h91tdmdn", "gzip");
  expect(headers["content-encoding"]).toBeUndefined();
});
