create or replace function holdfast_internal.keep_position(round text, reached bigint) returns void
language sql as $$
  insert into holdfast_internal.keeper_rounds as known (name, next_at, position) values (round, '-infinity', reached)
  on conflict (name) do update set position = excluded.position where known.position <> excluded.position
$$;
