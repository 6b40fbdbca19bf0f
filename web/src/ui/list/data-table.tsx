import { Checkbox } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { PlainLink, useGo } from "../link.tsx";
import classes from "./data-table.module.css";

export type Column<Row> = {
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: "right";
  /** Left out on a narrow screen. */
  readonly isMinor?: boolean;
  /** A word as long as an id or an address may be broken anywhere, so that it does not push other columns out of sight. */
  readonly isLong?: boolean;
  /** A name stays on one line while it is short. */
  readonly isName?: boolean;
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
  readonly selection?: Selection<Row> | undefined;
  /** The rows of before, while new ones are on the way. */
  readonly isStale?: boolean;
};

/**
 * A dense table. The first column links to the row's page, and a click anywhere on the row goes there too. On a narrow
 * screen each row is a card with the names of its columns. Its elements are those of the browser: a list has hundreds of
 * cells, and a component of Mantine for each would take longer to draw than all that is in them.
 */
export function DataTable<Row>({
  label,
  rows,
  columns,
  rowKey,
  rowTo,
  selection,
  isStale = false,
}: Props<Row>) {
  const open = useOpenRow();
  const frame = useScrolledByKeys(label);
  return (
    <div className={classes["frame"]} {...frame}>
      <table
        className={classes["table"]}
        aria-label={label}
        aria-busy={isStale}
        data-stale={isStale || undefined}
        data-linked={rowTo !== undefined || undefined}
      >
        <thead>
          <tr>
            {selection !== undefined && (
              <th className={classes["choose"]}>
                <ChooseAll selection={selection} rows={rows} rowKey={rowKey} />
              </th>
            )}
            {columns.map(({ name, align }) => (
              <th key={name} data-align={align}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} {...(rowTo && { onClick: (event: MouseEvent) => open(event, rowTo(row)) })}>
              {selection !== undefined && (
                <td>
                  <Checkbox
                    size="xs"
                    aria-label={selection.labelOf(row)}
                    checked={selection.chosen.has(rowKey(row))}
                    onChange={() => selection.choose(toggled(selection.chosen, rowKey(row), row))}
                  />
                </td>
              )}
              {columns.map((column, index) => (
                <td key={column.name} {...attributesOf(column)}>
                  <div className={classes["cell"]}>
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

/** A table that is wider than its frame can have the focus, so that the arrow keys move it sideways. */
function useScrolledByKeys(label: string) {
  const { t } = useTranslation();
  const ref = useRef<HTMLDivElement>(null);
  const [isWider, setWider] = useState(false);
  useEffect(() => {
    const frame = ref.current;
    if (frame === null) return;
    const observer = new ResizeObserver(() => setWider(frame.scrollWidth > frame.clientWidth));
    for (const each of [frame, ...frame.children]) observer.observe(each);
    return () => observer.disconnect();
  }, []);
  const asRegion = { role: "region", tabIndex: 0, "aria-label": t("ui.wideTable", { table: label }) };
  return { ref, ...(isWider && asRegion) };
}

/** What the style of a cell needs to know. A narrow screen shows the name in front of the value. */
const attributesOf = <Row,>({ name, align, isMinor, isLong, isName }: Column<Row>) => ({
  "data-name": name,
  "data-align": align,
  "data-minor": isMinor,
  "data-long": isLong,
  "data-line": isName,
});

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

/** A cell of two lines: what it names, and below it a text of less weight. */
export const Below = ({ text, children }: { text: string; children: ReactNode }) => (
  <>
    {children}
    <span className={classes["below"]}>{text}</span>
  </>
);

/** Longer ones are written smaller. */
const SHORT = 20;

type IdTextProps = {
  readonly id: string;
  /** Shown when the pointer rests on it. Default: the whole id, because it may be cut. */
  readonly title?: string;
};

/** An id in a list, on one line. If other columns need the room, its end is cut. */
export const IdText = ({ id, title = id }: IdTextProps) => (
  <span className={classes["id"]} data-long={id.length > SHORT || undefined} title={title}>
    <span className={classes["text"]}>{id}</span>
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
