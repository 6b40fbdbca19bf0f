import { Button, Checkbox, Group, ScrollArea, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ProblemMessage } from "../../../ui/problem-message.tsx";
import { merchantConnectionsQuery } from "../queries.ts";
import type { ExposureChange, Target } from "./run-exposure.ts";

type Props = {
  readonly change: ExposureChange;
  readonly merchantId: string;
  readonly suggested: string | undefined;
  readonly choose: (targets: readonly Target[]) => void;
  readonly close: () => void;
};

/** Connections of the merchant. What was chosen stays chosen while one searches for others. */
export function ChooseConnections({ change, merchantId, suggested, choose, close }: Props) {
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
