import IconPencil from "icon:pencil";
import IconReplace from "icon:replace";
import IconTrash from "icon:trash";
import IconX from "icon:x";
import { ActionIcon, Box, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../api/client.ts";
import { read } from "../../api/read.ts";
import type { View } from "../../api/schema.d.ts";
import { useChange } from "../../api/use-change.ts";
import { useApiForm } from "../../ui/form/use-api-form.ts";
import { TextLink } from "../../ui/link.tsx";
import { ProblemMessage } from "../../ui/problem-message.tsx";

export type SavedViewsProps = {
  /** The name of the page, by which the service keeps its views apart. */
  readonly page: string;
  /** The address of the page with the filters of a view. */
  readonly to: (query: string) => string;
};

/** The views of a page by their names, and a field for a new one. */
export function Views({ page, to, close }: SavedViewsProps & { close: () => void }) {
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
        <ViewRow
          key={view.id}
          view={view}
          others={own.filter(({ id }) => id !== view.id)}
          to={to(view.query)}
          onFollow={close}
        />
      ))}
      <SaveView page={page} others={own} onSaved={close} />
    </Stack>
  );
}

type RowProps = {
  readonly view: View;
  /** Their names are taken. */
  readonly others: readonly View[];
  readonly to: string;
  readonly onFollow: () => void;
};

function ViewRow({ view, others, to, onFollow }: RowProps) {
  const { t } = useTranslation();
  const [isRenamed, setRenamed] = useState(false);
  const query = useQueryOfNow();
  const params = { path: { id: view.id } };
  const replace = useChange({
    run: () => dataOf(api.PATCH("/api/views/{id}", { params, body: { query } })),
    done: t("views.replaced"),
  });
  const remove = useChange({
    run: () => dataOf(api.DELETE("/api/views/{id}", { params })),
    done: t("views.deleted"),
  });
  if (isRenamed) return <RenameView view={view} others={others} onDone={() => setRenamed(false)} />;
  const isShown = view.query === query;
  return (
    <Group justify="space-between" wrap="nowrap" gap="xs">
      <Box onClick={onFollow} style={{ minWidth: 0, overflowWrap: "anywhere" }}>
        <TextLink to={to} size="sm" fw={isShown ? 600 : 400}>
          {view.name}
        </TextLink>
      </Box>
      <Group gap={2} wrap="nowrap">
        {!isShown && (
          <RowAction
            label={t("views.replaceNamed", { name: view.name })}
            icon={<IconReplace size={14} />}
            change={replace}
          />
        )}
        <RowAction
          label={t("views.renameNamed", { name: view.name })}
          icon={<IconPencil size={14} />}
          change={{ isPending: false, mutate: () => setRenamed(true) }}
        />
        <RowAction
          label={t("views.deleteNamed", { name: view.name })}
          icon={<IconTrash size={14} />}
          change={remove}
        />
      </Group>
    </Group>
  );
}

type RowActionProps = {
  readonly label: string;
  readonly icon: ReactNode;
  readonly change: { readonly isPending: boolean; readonly mutate: () => void };
};

const RowAction = ({ label, icon, change: { isPending, mutate } }: RowActionProps) => (
  <ActionIcon
    variant="subtle"
    color="gray"
    size="sm"
    title={label}
    aria-label={label}
    loading={isPending}
    onClick={() => mutate()}
  >
    {icon}
  </ActionIcon>
);

type RenameProps = Pick<RowProps, "view" | "others"> & { readonly onDone: () => void };

function RenameView({ view: { id, name }, others, onDone }: RenameProps) {
  const { t } = useTranslation();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { name },
    validate: useFreeName(others),
    run: (values) =>
      dataOf(api.PATCH("/api/views/{id}", { params: { path: { id } }, body: { name: values.name.trim() } })),
    done: t("views.renamed"),
    onDone,
  });
  return (
    <form onSubmit={submit} noValidate>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          size="xs"
          flex={1}
          aria-label={t("views.newName", { name })}
          maxLength={100}
          // The person has just pressed the button that opens it.
          autoFocus
          {...form.getInputProps("name")}
        />
        <Button type="submit" size="xs" loading={isPending} disabled={form.values.name.trim() === ""}>
          {t("views.rename")}
        </Button>
        <ActionIcon variant="subtle" color="gray" aria-label={t("ui.cancel")} onClick={onDone}>
          <IconX size={14} />
        </ActionIcon>
      </Group>
      {problem !== null && <ProblemMessage error={problem} />}
    </form>
  );
}

/** The filters of the address, without the position in the list. */
function useQueryOfNow(): string {
  const { searchStr } = useRouterState({ select: ({ location }) => location });
  const query = new URLSearchParams(searchStr);
  query.delete("cursor");
  return query.toString();
}

/** The service keeps one view of a page under a name. */
function useFreeName(others: readonly View[]) {
  const { t } = useTranslation();
  return ({ name }: { name: string }) =>
    others.some((other) => other.name === name.trim()) ? { name: t("views.nameTaken") } : {};
}

type SaveProps = { readonly page: string; readonly others: readonly View[]; readonly onSaved: () => void };

function SaveView({ page, others, onSaved }: SaveProps) {
  const { t } = useTranslation();
  const query = useQueryOfNow();
  const { form, submit, problem, isPending } = useApiForm({
    initialValues: { name: "" },
    validate: useFreeName(others),
    run: ({ name }) => dataOf(api.POST("/api/views", { body: { name: name.trim(), page, query } })),
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
