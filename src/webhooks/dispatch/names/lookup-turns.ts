type Line = { underWay: number; readonly waiting: (() => void)[] };

/** Limits how many tasks of a key run at the same time. Further tasks of the key wait. Keys do not wait for each other. */
export class LookupTurns {
  readonly #underWayMax: number;
  readonly #lines = new Map<string, Line>();

  constructor(underWayMax: number) {
    this.#underWayMax = underWayMax;
  }

  async run<T>(key: string, task: () => T | Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { underWay: 0, waiting: [] };
    this.#lines.set(key, line);
    if (line.underWay >= this.#underWayMax) await new Promise<void>((resolve) => line.waiting.push(resolve));
    else line.underWay += 1;
    try {
      return await task();
    } finally {
      this.#end(key, line);
    }
  }

  /** The call that waits longest gets the turn directly, so that no new call can take it in between. */
  #end(key: string, line: Line): void {
    const next = line.waiting.shift();
    if (next === undefined) line.underWay -= 1;
    else next();
    if (line.underWay === 0) this.#lines.delete(key);
  }
}
