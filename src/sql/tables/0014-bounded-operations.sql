-- What an operation touches is counted to a bound before it begins: whether `total` is all.
alter table holdfast_internal.operations add column is_total_exact boolean not null default true;
update holdfast_internal.operations set is_total_exact = false where state in ('running', 'paused', 'failed') and filter ?| array['laneId', 'routeId'];

-- Endpoints that a route led to before, so that whoever deletes it looks there and nowhere else. Null: it isn't known, or they are many.
alter table holdfast_internal.routes add column former_lanes integer[] default '{}';
update holdfast_internal.routes set former_lanes = null where updated_at > created_at;
