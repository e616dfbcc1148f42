create or replace function holdfast_internal.add_counts(first integer[], second integer[]) returns integer[]
language sql immutable parallel safe as $$
  select coalesce(array_agg(coalesce(a, 0) + coalesce(b, 0) order by place), '{}')
  from unnest(first, second) with ordinality as counts (a, b, place)
$$;
