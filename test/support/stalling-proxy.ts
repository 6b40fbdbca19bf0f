import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/**
 * A proxy before a service that loses the bodies of responses: of each request that is named, it passes on status, header
 * and the first byte, and then nothing. Returns its address; closed with the test.
 */
export async function startStallingProxy(
  target: string,
  isStalled: (path: string) => boolean,
): Promise<string> {
  const proxy = createServer((received, response) => {
    const { method, headers, url = "/" } = received;
    const passed = request(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      if (isStalled(url)) answer.once("data", (chunk: Buffer) => response.write(chunk.subarray(0, 1)));
      else answer.pipe(response);
    });
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    received.pipe(passed);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://localhost:${(proxy.address() as AddressInfo).port}`; // It listens on a port.
}
