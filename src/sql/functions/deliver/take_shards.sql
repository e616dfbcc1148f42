-- Like take_shards_v2, for nodes of the previous version.
create or replace function holdfast_internal.take_shards(me integer, from_incarnation integer, seen_beat bigint, shards integer[])
returns table (shard smallint, epoch bigint, is_suspect boolean)
language sql as $$
  select taken.shard, taken.epoch, taken.is_suspect from holdfast_internal.take_shards_v2(me, from_incarnation, seen_beat, shards) as taken
$$;
