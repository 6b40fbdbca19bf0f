import { inBrowser, onContentUpdated } from "vitepress";

/** Under this name the browser keeps the form of the examples that the reader chose last: `curl`, `TypeScript` or `Python`. */
const CHOSEN = "example-form";

const GROUP = ".vp-code-group";

/** Shows all examples in the form that the reader chose, on this page and on those that follow. Called in a theme's setup. */
export function rememberExampleForm(): void {
  if (inBrowser) window.addEventListener("click", choose);
  onContentUpdated(() => show(read()));
}

function choose({ target }: Event): void {
  if (!(target instanceof HTMLInputElement)) return;
  const group = target.closest(GROUP);
  if (group === null) return;
  const form = titleOf(target);
  keep(form);
  // The other examples change their height. The one that was clicked stays where it is.
  const before = group.getBoundingClientRect().top;
  show(form);
  window.scrollBy({ top: group.getBoundingClientRect().top - before, behavior: "instant" });
}

/** An example without this form stays as it is. */
function show(form: string): void {
  for (const group of document.querySelectorAll(GROUP)) {
    const tabs = [...group.querySelectorAll("input")];
    const chosen = tabs.findIndex((tab) => titleOf(tab) === form);
    const tab = tabs[chosen];
    if (tab === undefined) continue;
    tab.checked = true;
    const blocks = group.querySelector(".blocks")?.children ?? [];
    for (const [index, block] of [...blocks].entries()) block.classList.toggle("active", index === chosen);
  }
}

const titleOf = (tab: HTMLInputElement): string => tab.labels?.[0]?.textContent ?? "";

// A browser can be set to store nothing.
function read(): string {
  try {
    return localStorage.getItem(CHOSEN) ?? "";
  } catch {
    return "";
  }
}

function keep(form: string): void {
  try {
    localStorage.setItem(CHOSEN, form);
  } catch {
    // Then the choice holds for this page.
  }
}
