import { read } from "../../api/read.ts";

/** Orders in review, those that wait longest first. */
export const reviewQuery = (cursor: string | undefined) =>
  read("/api/orders", {
    params: {
      query: { status: "PROCESSING", sort: "oldest", limit: 25, ...(cursor !== undefined && { cursor }) },
    },
  });
