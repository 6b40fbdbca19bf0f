-- A product without a description has null. The API stored an empty text as it was sent; an import of the exported catalog reads its
-- empty cell as null, and so reported and changed products that were as before (decision 0104).
update products set description = null where description = '';
