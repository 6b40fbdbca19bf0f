import IconSearch from "icon:search";
import { Button, Checkbox, Group, Modal, Progress, ScrollArea, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { formatNumber } from "../../text/format.ts";
import { DataTable } from "../../ui/list/data-table.tsx";
import { SelectionBar } from "../../ui/list/selection-bar.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";
import { merchantConnectionsQuery } from "./queries.ts";
import { type ExposureChange, type Products, runExposure, type Target } from "./run-exposure.ts";

type Props = {
  /** Ways to select. */
  readonly children: ReactNode;
  /** What is selected, in a sentence. Null if nothing is. */
  readonly selected: string | null;
  readonly clear: () => void;
  readonly merchantId: string;
  readonly products: Products;
  readonly targets?: readonly Target[];
  readonly suggested?: string | undefined;
};

/** Above a list whose rows can be selected, once one is: what is selected, and what can be done with it. */
export function ExposureBar({ children, selected, clear, ...dialog }: Props) {
  const { t } = useTranslation();
  const [change, setChange] = useState<ExposureChange | null>(null);
  if (selected === null) return null;
  return (
    <SelectionBar text={selected} clear={clear}>
      {children}
      <Button size="xs" variant="default" onClick={() => setChange("withdraw")}>
        {t("exposure.withdraw")}
      </Button>
      <Button size="xs" onClick={() => setChange("expose")}>
        {t("exposure.expose")}
      </Button>
      {change !== null && (
        <ExposureDialog {...dialog} change={change} chosen={selected} close={() => setChange(null)} />
      )}
    </SelectionBar>
  );
}

type ChooseConnectionsProps = {
  readonly change: ExposureChange;
  readonly merchantId: string;
  readonly suggested: string | undefined;
  readonly choose: (targets: readonly Target[]) => void;
  readonly close: () => void;
};

/** Connections of the merchant. What was chosen stays chosen while one searches for others. */
function ChooseConnections({ change, merchantId, suggested, choose, close }: ChooseConnectionsProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState("");
  const [searched] = useDebouncedValue(typed.trim(), 250);
  const query = merchantConnectionsQuery(merchantId, searched === "" ? undefined : searched);
  const { data, error, refetch } = useQuery({ ...query, placeholderData: keepPreviousData });
  const connections: readonly Target[] = data?.data ?? [];
  const [chosen, setChosen] = useState<ReadonlyMap<string, Target> | null>(null);
  // Until the person chooses, the connection that the list was about.
  const current =
    chosen ?? new Map(connections.filter(({ id }) => id === suggested).map((one) => [one.id, one]));
  const set = (targets: Iterable<Target>) => setChosen(new Map([...targets].map((one) => [one.id, one])));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (current.size > 0) choose([...current.values()]);
      }}
    >
      <Stack gap="sm">
        <Text size="sm" fw={600}>
          {t(change === "expose" ? "exposure.chooseExpose" : "exposure.chooseWithdraw")}
        </Text>
        <TextInput
          size="xs"
          type="search"
          aria-label={t("exposure.search")}
          placeholder={t("exposure.search")}
          leftSection={<IconSearch size={14} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          data-autofocus
        />
        {error !== null && <ProblemMessage error={error} retry={() => void refetch()} />}
        {data !== undefined && connections.length === 0 && (
          <Text size="sm" c="dimmed">
            {t(searched === "" ? "exposure.empty" : "exposure.emptyFiltered")}
          </Text>
        )}
        <Choices connections={connections} chosen={current} set={set} />
        {data?.nextCursor != null && (
          <Text size="xs" c="dimmed">
            {t("exposure.moreConnections")}
          </Text>
        )}
        <Group justify="space-between" gap="xs">
          <Button
            size="xs"
            variant="subtle"
            disabled={connections.length === 0}
            onClick={() => set([...current.values(), ...connections])}
          >
            {t("exposure.chooseAll")}
          </Button>
          <Group gap="xs">
            <Button size="sm" variant="default" onClick={close}>
              {t("ui.cancel")}
            </Button>
            <Button size="sm" type="submit" disabled={current.size === 0}>
              {t("exposure.continue")}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}

type ChoicesProps = {
  readonly connections: readonly Target[];
  readonly chosen: ReadonlyMap<string, Target>;
  readonly set: (targets: Iterable<Target>) => void;
};

function Choices({ connections, chosen, set }: ChoicesProps) {
  const { t } = useTranslation();
  return (
    <ScrollArea.Autosize mah={280} viewportProps={{ tabIndex: 0, "aria-label": t("exposure.connections") }}>
      <Stack gap={8} p={4} role="group" aria-label={t("exposure.connections")}>
        {connections.map((connection) => (
          <Checkbox
            key={connection.id}
            size="sm"
            label={connection.name}
            checked={chosen.has(connection.id)}
            onChange={({ currentTarget: { checked } }) => {
              const others = [...chosen.values()].filter(({ id }) => id !== connection.id);
              set(checked ? [...others, connection] : others);
            }}
          />
        ))}
      </Stack>
    </ScrollArea.Autosize>
  );
}

type ExposureDialogProps = {
  readonly change: ExposureChange;
  readonly products: Products;
  /** What is chosen, in a sentence. */
  readonly chosen: string;
  readonly merchantId: string;
  /** Connections that are known already. Absent: the person chooses. */
  readonly targets?: readonly Target[];
  /** The connection that is chosen at first. */
  readonly suggested?: string | undefined;
  readonly close: () => void;
};

/** Which connections, what would change, how far it is: products to connections, many to many. */
function ExposureDialog(props: ExposureDialogProps) {
  const { t } = useTranslation();
  const { change, products, targets, close } = props;
  const run = useExposureRun(change, products);
  const { phase } = run.state;
  // Once, when the dialog opens.
  useEffect(() => {
    if (targets !== undefined) run.count(targets);
  }, []);
  return (
    <Modal
      opened
      onClose={close}
      // Only its button stops a run, not a click beside the dialog.
      closeOnClickOutside={phase !== "changing"}
      closeOnEscape={phase !== "changing"}
      withCloseButton={phase !== "changing"}
      title={t(change === "expose" ? "exposure.exposeTitle" : "exposure.withdrawTitle")}
      size="lg"
      centered
      closeButtonProps={{ "aria-label": t("ui.close") }}
    >
      <Stack gap="md">
        <Text size="sm">{props.chosen}</Text>
        {phase === "choosing" ? (
          targets === undefined && (
            <ChooseConnections
              change={change}
              merchantId={props.merchantId}
              suggested={props.suggested}
              choose={run.count}
              close={close}
            />
          )
        ) : (
          <RunPart change={change} products={products} run={run} close={close} />
        )}
      </Stack>
    </Modal>
  );
}

type PartProps = Pick<ExposureDialogProps, "change" | "products" | "close"> & {
  readonly run: ReturnType<typeof useExposureRun>;
};

function RunPart({ change, products, run, close }: PartProps) {
  const { t } = useTranslation();
  const { state, apply, stop, count } = run;
  const { phase, targets } = state;
  const total = sumOf(state.toChange);
  const isRunning = phase === "counting" || phase === "changing";
  return (
    <>
      <RunProgress state={state} />
      {phase === "counted" && <Summary change={change} products={products} total={total} />}
      {state.error !== null && <ProblemMessage error={state.error} />}
      <Counts state={state} />
      <Group justify="flex-end" gap="xs">
        {isRunning ? (
          <Button size="sm" variant="default" onClick={phase === "counting" ? close : stop}>
            {t(phase === "counting" ? "ui.cancel" : "exposure.stop")}
          </Button>
        ) : (
          <Button size="sm" variant="default" onClick={close}>
            {t("ui.close")}
          </Button>
        )}
        {phase === "counted" && total > 0 && (
          <Button size="sm" onClick={apply} {...(change === "withdraw" && { color: "red.8" })} data-autofocus>
            {t(change === "expose" ? "exposure.expose" : "exposure.withdraw")}
          </Button>
        )}
        {(phase === "stopped" || phase === "failed") && (
          <Button size="sm" onClick={() => count(targets)}>
            {t("exposure.again")}
          </Button>
        )}
      </Group>
    </>
  );
}

/** What is happening, for the eyes and for a screen reader. */
function RunProgress({ state: { phase, toChange, changed } }: { state: RunState }) {
  const { t } = useTranslation();
  const [total, done] = [sumOf(toChange), sumOf(changed)];
  const numbers = { done: formatNumber(done), total: formatNumber(total) };
  const text = {
    choosing: "",
    counting: `${t("exposure.counting")} · ${t("exposure.countedSoFar", { done: formatNumber(total) })}`,
    counted: "",
    changing: t("exposure.changedOf", numbers),
    stopped: t("exposure.stopped"),
    failed: t("exposure.failed"),
    done: t("exposure.done", { total: numbers.done }),
  }[phase];
  // Another person may have changed some of them: then fewer are left than were counted.
  const percent = phase === "done" ? 100 : total === 0 ? 0 : Math.min(100, (done / total) * 100);
  return (
    <Stack gap={6} role="status">
      {phase !== "counted" && (
        <Progress
          value={phase === "counting" ? 100 : percent}
          animated={phase === "counting"}
          aria-label={t(phase === "counting" ? "exposure.counting" : "exposure.changing")}
        />
      )}
      {text !== "" && <Text size="sm">{text}</Text>}
    </Stack>
  );
}

function Summary({ change, products, total }: Pick<PartProps, "change" | "products"> & { total: number }) {
  const { t } = useTranslation();
  const skipsDiscontinued =
    change === "expose" && "filter" in products && products.filter.status === undefined;
  return (
    <Stack gap={4}>
      <Text fw={600}>
        {total === 0
          ? t(change === "expose" ? "exposure.exposeNothing" : "exposure.withdrawNothing")
          : t(change === "expose" ? "exposure.exposeSummary" : "exposure.withdrawSummary", { count: total })}
      </Text>
      {total > 0 && (
        <Text size="sm">{t(change === "expose" ? "exposure.exposeEffect" : "exposure.withdrawEffect")}</Text>
      )}
      {skipsDiscontinued && <Text size="sm">{t("exposure.activeOnly")}</Text>}
    </Stack>
  );
}

/** Connection by connection. */
function Counts({ state: { phase, targets, toChange, changed } }: { state: RunState }) {
  const { t } = useTranslation();
  const isPreview = phase === "counting" || phase === "counted";
  return (
    <DataTable
      label={t("exposure.connections")}
      rows={targets}
      rowKey={({ id }) => id}
      columns={[
        { name: t("exposure.title"), cell: ({ name }) => name },
        {
          name: t("exposure.toChange"),
          align: "right",
          cell: ({ id }) => formatNumber(toChange[id] ?? 0),
        },
        ...(isPreview
          ? []
          : [
              {
                name: t("exposure.changed"),
                align: "right" as const,
                cell: ({ id }: Target) => formatNumber(changed[id] ?? 0),
              },
            ]),
      ]}
    />
  );
}

type RunCounts = Readonly<Record<string, number>>;

/** How far a change of exposure is. */
type RunState = {
  readonly phase: "choosing" | "counting" | "counted" | "changing" | "stopped" | "failed" | "done";
  readonly targets: readonly Target[];
  /** Products that would change, by the id of the connection. */
  readonly toChange: RunCounts;
  /** Products that have changed. */
  readonly changed: RunCounts;
  readonly error: unknown;
};

const START: RunState = { phase: "choosing", targets: [], toChange: {}, changed: {}, error: null };

const sumOf = (counts: RunCounts): number => Object.values(counts).reduce((sum, each) => sum + each, 0);

const plus = (counts: RunCounts, { id }: Target, count: number): RunCounts => ({
  ...counts,
  [id]: (counts[id] ?? 0) + count,
});

type ExposureRun = {
  readonly state: RunState;
  count(targets: readonly Target[]): void;
  apply(): void;
  /** After the request that is on its way. */
  stop(): void;
};

/** Counts what a change of exposure would change, and then changes it, request by request. */
function useExposureRun(change: ExposureChange, products: Products): ExposureRun {
  const queryClient = useQueryClient();
  const [state, setState] = useState<RunState>(START);
  const stopper = useRef(new AbortController());
  useEffect(() => () => stopper.current.abort(), []);

  const run = async (targets: readonly Target[], isDryRun: boolean): Promise<void> => {
    stopper.current.abort();
    stopper.current = new AbortController();
    const { signal } = stopper.current;
    const counts = isDryRun ? "toChange" : "changed";
    const update = (next: (before: RunState) => Partial<RunState>) =>
      setState((before) => (signal === stopper.current.signal ? { ...before, ...next(before) } : before));
    update(() => ({ phase: isDryRun ? "counting" : "changing", targets, error: null, [counts]: {} }));
    try {
      await runExposure({
        ...{ change, products, targets, isDryRun, signal },
        onPart: (target, changed) =>
          update((before) => ({ [counts]: plus(before[counts], target, changed) })),
      });
      update(() => ({ phase: isDryRun ? "counted" : "done" }));
    } catch (error) {
      update(() => (signal.aborted ? { phase: "stopped" } : { phase: "failed", error }));
    }
    if (!isDryRun) await queryClient.invalidateQueries();
  };

  return {
    state,
    count: (targets) => void run(targets, true),
    apply: () => void run(state.targets, false),
    stop: () => stopper.current.abort(),
  };
}
