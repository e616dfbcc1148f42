-- About how many rows an operation would affect, if a count exists: open letters by endpoint or group, and the owners' reports of
-- their lanes. Otherwise null.
create or replace function holdfast_internal.counted_targets(kind text, filter jsonb) returns bigint
language plpgsql stable as $$
declare
  asked jsonb := jsonb_strip_nulls(filter) - 'state';
  lane integer := case when asked ? 'endpoint' then holdfast_internal.lane_of(asked ->> 'endpoint') end;
begin
  if kind in ('redrive', 'resolve', 'discard') and asked - 'endpoint' - 'fingerprint' = '{}' then
    return (
      select sum(counted.letters) from (
        select * from holdfast_internal.counted_letters_of(lane) where lane is not null
        union all select * from holdfast_internal.counted_letters() where lane is null
      ) as counted where counted.state = 'open' and counted.fingerprint = coalesce(asked ->> 'fingerprint', counted.fingerprint)
    );
  elsif kind = 'cancel' and asked - 'endpoint' = '{}' then
    return case when lane is null then holdfast_internal.owed_overall()
      else (select pending from holdfast_internal.lane_stats where lane_id = lane) end;
  end if;
  return null;
end $$;
