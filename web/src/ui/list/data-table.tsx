import IconArrowDown from "icon:arrow-down";
import IconArrowUp from "icon:arrow-up";
import { Checkbox } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import {
  type MouseEvent,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useTranslation } from "react-i18next";
import { PlainLink, useGo } from "../link.tsx";
import classes from "./data-table.module.css";

export type Column<Row> = {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: "right";
  /** The first to be left out where room lacks, and on a phone. */
  readonly isMinor?: boolean;
  /** When it is left out where room lacks: the highest first; those of 1 with all others that are minor. Absent: never. */
  readonly drop?: 1 | 2 | 3 | 4;
  /** A text of any length, such as an address: it shares the room that the others leave, and in a list its end is cut. */
  readonly isLong?: boolean;
  /** The same for a name, which gets half as much. */
  readonly isName?: boolean;
  /** Where a list on a phone has it: beside the first column, or below it. Default: the second column is below. */
  readonly phone?: "beside" | "below" | "end";
  /** The list can be sorted by it. */
  readonly sort?: Sort;
};

type Sort = {
  /** The present order. Undefined: the list has another one. */
  readonly direction: "ascending" | "descending" | undefined;
  readonly toggle: () => void;
};

/** Rows that a person has chosen. */
export type Selection<Row> = {
  /** By their keys. */
  readonly chosen: ReadonlyMap<string, Row>;
  readonly choose: (chosen: ReadonlyMap<string, Row>) => void;
  readonly labelOf: (row: Row) => string;
  readonly allLabel: string;
};

type Props<Row> = {
  /** The content of the table, for readers who do not see it. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  readonly rowTo?: ((row: Row) => string) | undefined;
  /** Each row is one line, two on a phone, and long texts are cut. Default: a list is one whose rows lead to pages. */
  readonly isList?: boolean;
  readonly selection?: Selection<Row> | undefined;
  /** The rows of before, while new ones are on the way. */
  readonly isStale?: boolean;
};

/**
 * A dense table. The first column links to the row's page, and a click anywhere on the row goes there too. Columns are left
 * out by their priority until all others fit. On a narrow screen a row of a list has two lines; one of another table is a card
 * with the names of its columns. Its elements are those of the browser: a list has hundreds of cells, and a component of
 * Mantine for each would take longer to draw than all that is in them.
 */
export function DataTable<Row>({
  label,
  rows,
  columns,
  rowKey,
  rowTo,
  isList = rowTo !== undefined,
  selection,
  isStale = false,
}: Props<Row>) {
  const open = useOpenRow();
  const ends = [rows[0], rows.at(-1)].map((row) => row !== undefined && rowKey(row));
  const widths = widthsOf(columns);
  const frame = useColumnsThatFit(label, `${columns.map(({ name }) => name)} ${rows.length} ${ends}`, widths);
  const attributes = columns.map((column, index) => attributesOf(column, index, columns));
  return (
    <div className={classes["frame"]} {...frame}>
      <table
        className={classes["table"]}
        aria-label={label}
        aria-busy={isStale}
        data-stale={isStale || undefined}
        data-linked={rowTo !== undefined || undefined}
        data-list={isList || undefined}
        data-selectable={selection !== undefined || undefined}
        onPointerOver={nameWhatIsCut}
      >
        <thead>
          <tr>
            {selection !== undefined && (
              <th className={classes["choose"]}>
                <ChooseAll selection={selection} rows={rows} rowKey={rowKey} />
              </th>
            )}
            {columns.map(({ name, sort }, index) => (
              <th
                key={name}
                {...attributes[index]}
                style={widths[index]}
                aria-sort={sort === undefined ? undefined : (sort.direction ?? "none")}
              >
                {sort === undefined ? name : <SortButton name={name} sort={sort} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} {...(rowTo && { onClick: (event: MouseEvent) => open(event, rowTo(row)) })}>
              {selection !== undefined && (
                <td className={classes["choose"]}>
                  <Checkbox
                    size="xs"
                    aria-label={selection.labelOf(row)}
                    checked={selection.chosen.has(rowKey(row))}
                    onChange={() => selection.choose(toggled(selection.chosen, rowKey(row), row))}
                  />
                </td>
              )}
              {columns.map((column, index) => (
                <td key={column.name} {...attributes[index]}>
                  <div className={classes["cell"]} dir={column.isLong || column.isName ? "auto" : undefined}>
                    {index === 0 && rowTo !== undefined ? (
                      <PlainLink to={rowTo(row)} data-row-link>
                        {column.cell(row)}
                      </PlainLink>
                    ) : (
                      column.cell(row)
                    )}
                  </div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const SortButton = ({ name, sort: { direction, toggle } }: { name: string; sort: Sort }) => (
  <button type="button" className={classes["sort"]} onClick={toggle}>
    {name}
    {direction === "ascending" ? (
      <IconArrowUp size={12} aria-hidden />
    ) : (
      <IconArrowDown size={12} aria-hidden data-none={direction === undefined || undefined} />
    )}
  </button>
);

type Width = { readonly width: string } | undefined;

/** The columns of long texts share the room that the others leave: at first by their kind, and then by their texts. */
function widthsOf<Row>(columns: readonly Column<Row>[]): readonly Width[] {
  const shares = columns.map(({ isLong, isName }) => (isLong ? 2 : isName ? 1 : 0));
  const all = shares.reduce<number>((sum, share) => sum + share, 0);
  return shares.map((share) => (share === 0 ? undefined : { width: `${(100 * share) / all}%` }));
}

/** The priorities of columns, and after them a step in which texts are cut earlier. */
const DROPS = 5;

/**
 * Leaves out columns by their priority until the table fits into its frame. What fits depends on the texts, their language and
 * the font, so it is measured. A table that is too wide without them can have the focus, so that the arrow keys move it sideways.
 */
function useColumnsThatFit(label: string, content: string, widths: readonly Width[]) {
  const { t } = useTranslation();
  const ref = useRef<HTMLDivElement>(null);
  const [isWider, setWider] = useState(false);
  // It writes attributes that React does not know: drawing a list once more for each column would take longer.
  const fit = useEffectEvent(() => {
    const frame = ref.current;
    const table = frame?.firstElementChild;
    if (frame == null || !(table instanceof HTMLElement)) return;
    const isTooWide = (): boolean => table.scrollWidth > frame.clientWidth;
    // What was shared before belongs to another width: the same width always has the same columns.
    const shares = widths.filter((width) => width !== undefined);
    for (const [index, head] of table.querySelectorAll<HTMLElement>("th[data-room]").entries())
      head.style.width = shares[index]?.width ?? "";
    let dropped = 0;
    do table.dataset["dropped"] = String(dropped);
    while (isTooWide() && ++dropped <= DROPS);
    if (table.dataset["list"] !== undefined) shareRoom(table);
    setWider(isTooWide());
  });
  // Other content needs other widths.
  useLayoutEffect(() => fit(), [content]);
  useEffect(() => {
    const frame = ref.current;
    if (frame === null) return;
    const observer = new ResizeObserver(() => fit());
    for (const each of [frame, ...frame.children]) observer.observe(each);
    document.fonts?.addEventListener("loadingdone", fit);
    return () => {
      observer.disconnect();
      document.fonts?.removeEventListener("loadingdone", fit);
    };
  }, []);
  const asRegion = {
    role: "region",
    tabIndex: 0,
    "aria-label": t("ui.wideTable", { table: label }),
    "data-wide": true,
  };
  return { ref, ...(isWider && asRegion) };
}

/** Gives room that the texts of one column do not need to those whose texts are cut. */
function shareRoom(table: HTMLElement): void {
  const heads = [...table.querySelectorAll<HTMLElement>("th[data-room]")].filter(
    ({ offsetWidth }) => offsetWidth > 1,
  );
  const room = heads.reduce((sum, { offsetWidth }) => sum + offsetWidth, 0);
  const wanted = heads.map((head) => Math.max(...widthsOfTexts(table, head)));
  const all = wanted.reduce((sum, width) => sum + width, 0);
  if (heads.length < 2 || all === 0) return;
  // A text that is longer than its share leaves the others what they need, as far as that is no more than theirs.
  const shares = all <= room ? wanted : shareOf(room, wanted);
  const sum = shares.reduce((before, share) => before + share, 0);
  for (const [index, head] of heads.entries()) head.style.width = `${(100 * (shares[index] ?? 0)) / sum}%`;
}

/** What each gets of the room: the smallest wishes are met first. */
function shareOf(room: number, wanted: readonly number[]): number[] {
  const shares = wanted.map(() => 0);
  let left = room;
  for (const [place, [width, index]] of wanted
    .map((width, index) => [width, index] as const)
    .toSorted(([one], [other]) => one - other)
    .entries()) {
    const share = Math.min(width, left / (wanted.length - place));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** How wide the texts of a column would be if none were cut, with their padding. */
function widthsOfTexts(table: HTMLElement, head: HTMLElement): number[] {
  const range = document.createRange();
  const column = [...(head.parentElement?.children ?? [])].indexOf(head) + 1;
  const cells = [head, ...table.querySelectorAll(`tbody td:nth-child(${column}) > div`)];
  return cells.map((cell) => {
    range.selectNodeContents(cell);
    return range.getBoundingClientRect().width + PADDING;
  });
}

/** Of a cell, on both sides, with a pixel for fractions. */
const PADDING = 21;

/** Pointing at a text that is cut shows all of it. */
function nameWhatIsCut({ target }: PointerEvent): void {
  const cell = (target as Element).closest<HTMLElement>("td")?.querySelector<HTMLElement>(":scope > div"); // A pointer is over an element.
  if (cell == null) return;
  if (cell.scrollWidth > cell.clientWidth) cell.title = cell.innerText;
  else cell.removeAttribute("title");
}

/** What the style of a cell needs to know. A card on a narrow screen shows the name in front of the value. */
const attributesOf = <Row,>(
  { name, align, isMinor, drop, isLong, isName, phone }: Column<Row>,
  index: number,
  columns: readonly Column<Row>[],
) => ({
  "data-name": name,
  "data-align": align,
  "data-minor": isMinor,
  // The last one stays: the eye looks for it at the edge.
  "data-drop": index === columns.length - 1 ? undefined : (drop ?? (isMinor ? 1 : undefined)),
  "data-room": isLong ? "long" : isName ? "name" : undefined,
  "data-phone": index === 0 ? "title" : (phone ?? (index === 1 && isPlain(columns) ? "below" : undefined)),
});

/** No column says where a list on a phone has it. */
const isPlain = <Row,>(columns: readonly Column<Row>[]): boolean =>
  columns.every(({ phone }) => phone === undefined);

type ChooseAllProps<Row> = Pick<Props<Row>, "rows" | "rowKey"> & { readonly selection: Selection<Row> };

/** Chooses the rows of this page, or none of them. What is chosen on other pages stays. */
function ChooseAll<Row>({ selection, rows, rowKey }: ChooseAllProps<Row>) {
  const { chosen, choose, allLabel } = selection;
  const number = rows.filter((row) => chosen.has(rowKey(row))).length;
  const isAll = number > 0 && number === rows.length;
  const toggle = (): void => {
    const next = new Map(chosen);
    for (const row of rows) {
      if (isAll) next.delete(rowKey(row));
      else next.set(rowKey(row), row);
    }
    choose(next);
  };
  return (
    <Checkbox
      size="xs"
      aria-label={allLabel}
      checked={isAll}
      indeterminate={number > 0 && !isAll}
      onChange={toggle}
    />
  );
}

function toggled<Row>(chosen: ReadonlyMap<string, Row>, key: string, row: Row): ReadonlyMap<string, Row> {
  const next = new Map(chosen);
  if (!next.delete(key)) next.set(key, row);
  return next;
}

/** A click on a row opens its page, unless it selected a text or hit something of its own. */
function useOpenRow(): (event: MouseEvent, to: string) => void {
  const go = useGo();
  return (event, to) => {
    const target = event.target as Element; // A click hits an element.
    if (target.closest("a, button, input, label, select, [role=menu]") !== null) return;
    if (window.getSelection()?.isCollapsed === false || event.defaultPrevented) return;
    if (event.metaKey || event.ctrlKey) window.open(to, "_blank", "noopener");
    else void go(to);
  };
}

/** What a cell names, and a text of less weight: below it, and in a list beside it. */
export const Below = ({ text, children }: { text: string; children: ReactNode }) => (
  <>
    {children}
    <span className={classes["below"]}>{text}</span>
  </>
);

/** Ids of the service are written smaller. */
const SERVICE_ID = /^[a-z]{2,5}_[\da-z]{26}$|^[\da-f]{8}-[\da-f-]{27}$/;

type IdTextProps = {
  readonly id: string;
  /** Shown when the pointer rests on it. Default: the whole id, because it may be cut. */
  readonly title?: string;
};

/** An id in a list, on one line. If other columns need the room, its end is cut. */
export const IdText = ({ id, title = id }: IdTextProps) => (
  <span className={classes["id"]} dir="auto" data-long={SERVICE_ID.test(id) || undefined} title={title}>
    {id}
  </span>
);

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
