/** Partners put tokens into user names and queries. The rest identifies the endpoint well enough. */
export function urlWithoutQuery(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search === "" ? "" : "?…"}`;
}
