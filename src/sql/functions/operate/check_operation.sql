-- Refuses an operation without any filter, with filter fields that it doesn't support, or with a time range that nothing can be in.
create or replace function holdfast_internal.check_operation(kind text, filter jsonb, options jsonb) returns void
language plpgsql stable as $$
begin
  if kind not in ('redrive', 'resolve', 'discard', 'replay', 'retry', 'cancel', 'cancel_runs') then
    raise exception 'there is no operation "%"', kind using errcode = 'HF007';
  end if;
  if jsonb_strip_nulls(filter) = '{}' and not coalesce((options ->> 'all')::boolean, false) then
    raise exception 'an operation needs a filter' using errcode = 'HF007', hint = 'Give a filter, or "all": true for everything.';
  end if;
  if filter ?| array['laneId', 'routeId'] then
    raise exception 'only the deletion of an endpoint or a route can refer to it by its number' using errcode = 'HF007', hint = 'Use its name.';
  end if;
  if kind in ('redrive', 'resolve', 'discard') and coalesce(filter ->> 'state', 'open') <> 'open' then
    raise exception 'only open dead letters can be settled, not those that are %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind in ('retry', 'cancel') and coalesce(filter ->> 'state', 'pending') <> 'pending' then
    raise exception 'only pending deliveries can be retried or cancelled, not those that are %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind = 'cancel_runs' and coalesce(filter ->> 'state', 'waiting') not in ('scheduled', 'waiting', 'running') then
    raise exception 'only runs that are scheduled, waiting or running can be cancelled, not those that are %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind = 'replay' and (filter ->> 'from' is null or filter ->> 'to' is null) then
    raise exception 'a replay needs a time range' using errcode = 'HF007', hint = 'Give "from" and "to".';
  end if;
  if (filter ->> 'from')::timestamptz >= (filter ->> 'to')::timestamptz then
    raise exception 'the time range is empty: "to" (%) must be after "from" (%)', filter ->> 'to', filter ->> 'from' using errcode = 'HF007';
  end if;
end $$;
