-- Pauses stop the give-up timer; the last hundred are stored as [from, to] in epoch milliseconds, the current one with null.
create or replace function holdfast_internal.open_pause(pauses jsonb) returns jsonb
language sql volatile
return (
  case when pauses -> -1 -> 1 = 'null' then pauses
  else (case when jsonb_typeof(pauses) <> 'array' then '[]' when jsonb_array_length(pauses) >= 100 then pauses - 0 else pauses end)
    || jsonb_build_array(jsonb_build_array(floor(extract(epoch from clock_timestamp()) * 1000), null)) end
);
