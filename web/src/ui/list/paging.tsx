import { Button, Group } from "@mantine/core";
import { IconArrowLeft, IconArrowRight } from "@tabler/icons-react";
import { useNavigate, useRouter } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

/** The API pages by cursor, so there is a next page and, through the browser's history, a previous one. */
export function Paging({ nextCursor }: { nextCursor: string | null }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { history, state } = useRouter();
  const { cursor } = state.location.search as { cursor?: string }; // Every list reads this parameter.
  const turn = (next: string | undefined) =>
    navigate({ to: ".", search: (search: object) => ({ ...search, cursor: next }) } as never);
  if (cursor === undefined && nextCursor === null) return null;
  return (
    <Group justify="flex-end" gap="xs">
      {cursor !== undefined && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconArrowLeft size={14} />}
          onClick={() => (history.canGoBack() ? history.back() : void turn(undefined))}
        >
          {t("ui.previousPage")}
        </Button>
      )}
      <Button
        size="xs"
        variant="default"
        rightSection={<IconArrowRight size={14} />}
        disabled={nextCursor === null}
        onClick={() => void turn(nextCursor ?? undefined)}
      >
        {t("ui.nextPage")}
      </Button>
    </Group>
  );
}
