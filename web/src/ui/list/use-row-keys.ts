import { useHotkeys } from "@mantine/hooks";

/** The links of the rows that the page shows, in their order. */
const rowLinks = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("[data-row-link]")];

/** j and k move the focus between rows; Enter follows the focused link, as everywhere. */
export function useRowKeys(): void {
  useHotkeys([
    ["j", () => focusRow(1)],
    ["k", () => focusRow(-1)],
  ]);
}

function focusRow(step: 1 | -1): void {
  const links = rowLinks();
  const index = links.findIndex((link) => link.matches(":focus"));
  const next = index === -1 ? (step === 1 ? 0 : links.length - 1) : index + step;
  links[next]?.focus();
}
