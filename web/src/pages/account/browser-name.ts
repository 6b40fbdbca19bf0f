// The first that matches: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari.
const BROWSERS = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = [
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Android", "Android"],
  ["Windows", "Windows"],
  ["Mac OS", "macOS"],
  ["Linux", "Linux"],
] as const;

/** A browser and its system in a few words. Null if the text names neither. */
export function browserName(userAgent: string | null): string | null {
  if (userAgent === null) return null;
  const find = (names: readonly (readonly [string, string])[]) =>
    names.find(([sign]) => userAgent.includes(sign))?.[1];
  const words = [find(BROWSERS), find(SYSTEMS)].filter((word) => word !== undefined);
  return words.length === 0 ? userAgent.slice(0, 60) : words.join(", ");
}
