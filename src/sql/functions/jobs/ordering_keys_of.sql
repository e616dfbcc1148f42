-- The ordering keys of runs that have that option and no other; null if one of them has none, has other options, or an invalid key.
create or replace function holdfast_internal.ordering_keys_of(run_options jsonb[]) returns text[]
language sql immutable as $$
  select case when bool_and(coalesce(
                given.option - 'orderingKey' = '{}' and jsonb_typeof(given.option -> 'orderingKey') = 'string'
                and length(given.option ->> 'orderingKey') between 1 and 255, false
              )) then array_agg(given.option ->> 'orderingKey' order by given.at) end
  from unnest(run_options) with ordinality as given (option, at)
$$;
