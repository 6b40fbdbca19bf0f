import type { SiteData } from "vitepress";

/** How much more a page counts in the search: a guide answers, a page of the API describes. */
const WEIGHTS: readonly (readonly [pages: RegExp, weight: number])[] = [
  [/\/partners\/webhooks\.html/, 9],
  [/\/(partners|merchants|warehouse)\//, 6],
  [/\/operators\//, 3],
  [/\/errors\//, 0.8],
  [/\/api\//, 0.4],
];

/** @param id of a part of a page: its address, with that of its heading */
export const weightOf = (id: string): number => WEIGHTS.find(([pages]) => pages.test(id))?.[1] ?? 1;

/**
 * Weighs what the search finds. It is a function, which the configuration can only give to the site as text that is evaluated, and
 * the policy of its pages forbids that.
 */
export function weighSearch(site: SiteData): void {
  const { search } = site.themeConfig;
  search.options = { ...search.options, miniSearch: { searchOptions: { boostDocument: weightOf } } };
}
