-- A planner that takes a table for empty sees no difference between indexes that all have the id in them, and before PostgreSQL 18 takes the newest: it
-- walked this one from end to end for each id of a batch. `lane_id` is never null. The predicate follows from any condition on a lane and from
-- nothing else, so that a look-up by id is left with the primary key.
create index deliveries_ready_by_lane on holdfast_internal.deliveries (lane_id, priority, id) where lane_id is not null;
drop index holdfast_internal.deliveries_ready;
alter index holdfast_internal.deliveries_ready_by_lane rename to deliveries_ready;
