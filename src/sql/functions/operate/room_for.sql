-- How many deliveries an operation may add now, by the same soft limits as publishing, and the message if it may add none.
create or replace function holdfast_internal.room_for(op holdfast_internal.operations, out room bigint, out obstacle text)
language plpgsql stable as $$
declare
  bound bigint := holdfast_internal.setting_integer('max_pending');
  target text := coalesce(op.options ->> 'targetEndpoint', op.filter ->> 'endpoint', (
    select endpoint.name from holdfast_internal.routes as route join holdfast_internal.endpoints as endpoint on endpoint.id = route.lane_id
    where route.name = op.options ->> 'targetRoute'
  ));
  lane_room bigint;
begin
  room := case when bound > 0 then bound - holdfast_internal.owed_overall() else 9223372036854775807 end;
  obstacle := case when room <= 0 then 'The queue is full.' end;
  select (endpoint.settings #>> '{limits,maxPending}')::bigint - coalesce(stats.pending, 0) into lane_room
  from holdfast_internal.endpoints as endpoint left join holdfast_internal.lane_stats as stats on stats.lane_id = endpoint.id where endpoint.name = target;
  if lane_room < room then
    room := lane_room;
    obstacle := case when room <= 0 then format('Endpoint "%s" is full.', target) end;
  end if;
end $$;
