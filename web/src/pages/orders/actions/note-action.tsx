import { Textarea } from "@mantine/core";
import { useTranslation } from "react-i18next";
import { api, dataOf } from "../../../api/client.ts";
import { useHasRole } from "../../../api/me.ts";
import type { Order } from "../../../api/schema.d.ts";
import { ConfirmAction } from "../../../ui/form/confirm-action.tsx";

/**
 * Adds a note to the timeline, for all who see it. Shown to those who may, for real orders
 * (docs/design/lifecycle.md, "The timeline").
 */
export function NoteAction({ order: { id, testMode } }: { order: Order }) {
  const { t } = useTranslation();
  const mayAdd = useHasRole("operator", "warehouse", "merchant");
  if (testMode || !mayAdd) return null;
  return (
    <ConfirmAction
      label={t("orderActions.addNote")}
      effect={t("orderActions.addNoteEffect")}
      done={t("orderActions.noteAdded")}
      initialValues={{ text: "" }}
      validate={({ text }) => (text.trim() === "" ? { text: t("ui.required") } : {})}
      fields={(form) => (
        <Textarea
          label={t("orderActions.note")}
          maxLength={1_000}
          autosize
          minRows={3}
          maxRows={12}
          required
          data-autofocus
          {...form.getInputProps("text")}
        />
      )}
      run={({ text }) =>
        dataOf(api.POST("/api/orders/{id}/notes", { params: { path: { id } }, body: { text: text.trim() } }))
      }
    />
  );
}
