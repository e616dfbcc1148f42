create or replace function holdfast_internal.is_replay(delivery bigint) returns boolean
language sql stable
return exists (select from holdfast_internal.replays where replays.ids @> delivery);
