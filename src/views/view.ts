/** The filters of a list that a person keeps under a name. */
export type View = {
  readonly id: string;
  readonly name: string;
  /** The page of the console, such as `orders`. */
  readonly page: string;
  /** The query string of the page, without the question mark. */
  readonly query: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

/** Views of one owner. The table has as many slots for each. */
export const VIEWS_MAX = 50;

export type ViewRequest = Pick<View, "name" | "page" | "query">;
