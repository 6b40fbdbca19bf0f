-- Each order that is routed or shipped changes the stock of its products. With room in the page the new version of a row
-- stays beside the old one, and no index changes. It holds for pages that are filled from now on.

alter table facility_stock set (fillfactor = 70);
