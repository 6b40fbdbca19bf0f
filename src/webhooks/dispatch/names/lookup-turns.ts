type Running = { underWay: number; readonly waiting: (() => void)[] };

/** Limits how many tasks of a key run at the same time. Further tasks of the key wait. Keys do not wait for each other. */
export class LookupLimit {
  readonly #underWayMax: number;
  readonly #running = new Map<string, Running>();

  constructor(underWayMax: number) {
    this.#underWayMax = underWayMax;
  }

  async run<T>(key: string, task: () => T | Promise<T>): Promise<T> {
    const running = this.#running.get(key) ?? { underWay: 0, waiting: [] };
    this.#running.set(key, running);
    if (running.underWay >= this.#underWayMax)
      await new Promise<void>((resolve) => running.waiting.push(resolve));
    else running.underWay += 1;
    try {
      return await task();
    } finally {
      this.#end(key, running);
    }
  }

  /** The call that waits longest begins directly, so that no new call begins before it. */
  #end(key: string, running: Running): void {
    const next = running.waiting.shift();
    if (next === undefined) running.underWay -= 1;
    else next();
    if (running.underWay === 0) this.#running.delete(key);
  }
}
