-- Deliveries that wait for a time, the soonest first, of all endpoints together: for the list of what is sent next. The expression is `due_at` and has
-- the same order. Written like this, no other statement can use the index: one that reads the due deliveries of some lanes would otherwise look
-- through those of all the others. Only a retry and a delayed delivery have an entry.
create index deliveries_next on holdfast_internal.deliveries (timezone('UTC', due_at), id) where due_at is not null;
