/** What follows `#token=` in the address of a link. It is removed from the address, and so from the browser's history. */
export function tokenOfAddress(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) history.replaceState(history.state, "", location.pathname + location.search);
  return token;
}
