import { expect, it } from "vitest";
import { drawPictures } from "../../scripts/draw/main.ts";

it.each(await drawPictures())(
  "$path is what the code draws; `npm run draw` renews it",
  ({ stored, drawn }) => {
    expect(stored).toBe(drawn);
  },
);
