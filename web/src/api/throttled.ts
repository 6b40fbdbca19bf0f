/** Calls `run` at once, and then at most once in `everyMs`: the last of several calls is made late, not lost. */
export function throttled(run: () => void, everyMs: number): { call(): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let isWaiting = false;
  const start = (): void => {
    run();
    timer = setTimeout(() => {
      timer = null;
      if (!isWaiting) return;
      isWaiting = false;
      start();
    }, everyMs);
  };
  return {
    call: () => {
      if (timer === null) start();
      else isWaiting = true;
    },
    cancel: () => {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      isWaiting = false;
    },
  };
}
