import { Button, Group, Modal, Progress, Stack, Text } from "@mantine/core";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";
import { formatNumber } from "../../../text/format.ts";
import { DataTable } from "../../../ui/list/data-table.tsx";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { ChooseConnections } from "./choose-connections.tsx";
import type { ExposureChange, Products, Target } from "./run-exposure.ts";
import { type RunState, sumOf, useExposureRun } from "./use-exposure-run.ts";

type Props = {
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
export function ExposureDialog(props: Props) {
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

type PartProps = Pick<Props, "change" | "products" | "close"> & {
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
