/**
 * What a person has chosen on this device: the language, the carrier of the packing table. A browser that stores nothing, because
 * the person or a company forbids it, throws. Then each choice lasts until the page is loaded again.
 */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Nothing depends on it.
  }
}
