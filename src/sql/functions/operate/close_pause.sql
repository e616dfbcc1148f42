create or replace function holdfast_internal.close_pause(pauses jsonb) returns jsonb
language sql volatile
return (
  case when pauses -> -1 -> 1 = 'null'
  then jsonb_set(pauses, '{-1,1}', to_jsonb(floor(extract(epoch from clock_timestamp()) * 1000)))
  else pauses end
);
