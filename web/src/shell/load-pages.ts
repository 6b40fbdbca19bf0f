import type { AnyRouter } from "@tanstack/react-router";

/** The person looks at the first page before. */
const WAIT_MS = 2_000;

/**
 * Loads the code of these pages while the browser has nothing else to do, one after another, so that a page opened by a
 * key or a tap waits for its data only. Returns a function that stops it.
 */
export function loadPagesWhenIdle(router: AnyRouter, addresses: readonly string[]): () => void {
  let isStopped = false;
  const load = async (): Promise<void> => {
    for (const address of addresses) {
      await idle();
      if (isStopped) return;
      const [, , route] = router.getMatchedRoutes(address);
      // What fails now is loaded when the page is opened, and the page reports it.
      await router.loadRouteChunk(route ?? router.routeTree)?.catch(() => undefined);
    }
  };
  const timer = setTimeout(() => void load(), WAIT_MS);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/** Safari has no such callback. */
const idle = (): Promise<void> =>
  new Promise((resolve) => {
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve());
    else setTimeout(resolve, 200);
  });
