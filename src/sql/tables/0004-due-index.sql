-- Deliveries with one and the same due time are read in the order of their ids, without sorting all of them for each page.
create index deliveries_due on holdfast_internal.deliveries (lane_id, due_at, id) where due_at is not null;
drop index holdfast_internal.deliveries_scheduled;
