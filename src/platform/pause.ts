/** Resolves after `ms`, or as soon as `stopping` is aborted. */
export function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) return resolve();
    const timer = setTimeout(done, ms);
    stopping.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      stopping.removeEventListener("abort", done);
      resolve();
    }
  });
}

/** The result of `work`, or an error after `ms`. The work itself continues. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`There was no result within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
