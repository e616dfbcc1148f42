-- Refuses what can't be meant: no filter at all, or fields that the action doesn't know.
create or replace function holdfast_internal.check_operation(kind text, filter jsonb, options jsonb) returns void
language plpgsql stable as $$
begin
  if kind not in ('redrive', 'resolve', 'discard', 'replay', 'retry', 'cancel', 'cancel_runs') then
    raise exception 'there is no operation "%"', kind using errcode = 'HF007';
  end if;
  if jsonb_strip_nulls(filter) = '{}' and not coalesce((options ->> 'all')::boolean, false) then
    raise exception 'an operation needs a filter' using errcode = 'HF007', hint = 'Say what to touch, or that all is meant ("all": true).';
  end if;
  if filter ?| array['laneId', 'routeId'] then
    raise exception 'only what deletes an endpoint or a route names it by its number' using errcode = 'HF007', hint = 'Use its name.';
  end if;
  if kind in ('redrive', 'resolve', 'discard') and coalesce(filter ->> 'state', 'open') <> 'open' then
    raise exception 'only open letters can be settled, not those that are %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind in ('retry', 'cancel') and coalesce(filter ->> 'state', 'pending') <> 'pending' then
    raise exception 'only what is owed can be hurried or cancelled, not what is %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind = 'cancel_runs' and coalesce(filter ->> 'state', 'waiting') not in ('scheduled', 'waiting', 'running') then
    raise exception 'only runs that are scheduled, waiting or running can be cancelled, not those that are %', filter ->> 'state' using errcode = 'HF007';
  end if;
  if kind = 'replay' and (filter ->> 'from' is null or filter ->> 'to' is null) then
    raise exception 'a replay needs a time range' using errcode = 'HF007', hint = 'Give "from" and "to".';
  end if;
end $$;
