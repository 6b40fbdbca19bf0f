import { ActionIcon, Box, Button, Group, Popover, Stack, Text, TextInput } from "@mantine/core";
import { IconBookmark, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { read } from "../../api/read.ts";
import type { View } from "../../api/schema.d.ts";
import { useChange } from "../../api/use-change.ts";
import { useApiForm } from "../../ui/form/use-api-form.ts";
import { TextLink } from "../../ui/link.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";

type Props = {
  /** The name of the page, by which the service keeps its views apart. */
  readonly page: string;
  /** The address of the page with the filters of a view. */
  readonly to: (query: string) => string;
};

/** The views of a list that the person has saved, and the way to save the filters of now. */
export function SavedViews({ page, to }: Props) {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" width={300} trapFocus returnFocus>
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconBookmark size={14} />}
          onClick={() => setOpen(!isOpen)}
        >
          {t("views.title")}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t("views.title")}>
        {isOpen && <Views page={page} to={to} close={() => setOpen(false)} />}
      </Popover.Dropdown>
    </Popover>
  );
}

function Views({ page, to, close }: Props & { close: () => void }) {
  const { t } = useTranslation();
  const { data, error } = useQuery(read("/api/views"));
  const own = data?.data.filter((view) => view.page === page) ?? [];
  return (
    <Stack gap="sm">
      {error !== null && <ProblemMessage error={error} />}
      {data !== undefined && own.length === 0 && (
        <Text size="sm" c="dimmed">
          {t("views.none")}
        </Text>
      )}
      {own.map((view) => (
        <ViewRow key={view.id} view={view} to={to(view.query)} onFollow={close} />
      ))}
      <SaveView page={page} onSaved={close} />
    </Stack>
  );
}

function ViewRow({ view, to, onFollow }: { view: View; to: string; onFollow: () => void }) {
  const { t } = useTranslation();
  const remove = useChange({
    run: () => dataOf(api.DELETE("/api/views/{id}", { params: { path: { id: view.id } } })),
    done: t("views.deleted"),
  });
  return (
    <Group justify="space-between" wrap="nowrap" gap="xs">
      <Box onClick={onFollow}>
        <TextLink to={to} size="sm">
          {view.name}
        </TextLink>
      </Box>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={t("views.deleteNamed", { name: view.name })}
        loading={remove.isPending}
        onClick={() => remove.mutate()}
      >
        <IconTrash size={14} />
      </ActionIcon>
    </Group>
  );
}

/** The filters of the address, without the position in the list. */
function useQueryOfNow(): string {
  const { searchStr } = useRouterState({ select: ({ location }) => location });
  const query = new URLSearchParams(searchStr);
  query.delete("cursor");
  return query.toString();
}

function SaveView({ page, onSaved }: { page: string; onSaved: () => void }) {
  const { t } = useTranslation();
  const query = useQueryOfNow();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { name: "" },
    run: ({ name }) => dataOf(api.POST("/api/views", { body: { name, page, query } })),
    done: t("views.saved"),
    onDone: onSaved,
  });
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        <TextInput
          size="xs"
          label={t("views.name")}
          description={t("views.saveEffect")}
          maxLength={100}
          data-autofocus
          {...form.getInputProps("name")}
        />
        {problem !== null && <ProblemMessage error={problem} />}
        <Button type="submit" size="xs" loading={isPending} disabled={form.values.name.trim() === ""}>
          {t("views.save")}
        </Button>
      </Stack>
    </form>
  );
}
