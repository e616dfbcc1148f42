-- Adds two counts of answers. The 32 most frequent answers are kept; the others are added up as "other".
create or replace function holdfast_internal.add_answers(first jsonb, second jsonb) returns jsonb
language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(answer, total), '{}') from (
    select case when place <= 32 then answer else 'other' end as answer, sum(total) as total from (
      select key as answer, sum(value::bigint) as total, row_number() over (order by sum(value::bigint) desc, key) as place
      from (select * from jsonb_each_text(first) union all select * from jsonb_each_text(second)) as every
      group by key
    ) as ranked group by 1
  ) as kept
$$;
