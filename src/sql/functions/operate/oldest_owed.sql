-- Since when the lane's oldest delivery has been pending; null if it has none: see oldest_owed_in.
create or replace function holdfast_internal.oldest_owed(lane integer) returns timestamptz
language plpgsql stable as $$
begin
  return (select found.since from holdfast_internal.oldest_owed_in(array[lane]) as found);
end $$;
