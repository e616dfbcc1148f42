-- Signatures of functions and views, as callers use them. Argument names are included, because SQL may call by name.
select pronamespace::regnamespace || '.' || proname as name,
       pronamespace::regnamespace || '.' || proname || '(' || pg_get_function_arguments(oid) || ') returns ' || pg_get_function_result(oid) as signature
from pg_proc where pronamespace in ('holdfast'::regnamespace, 'holdfast_internal'::regnamespace)
union all
select relnamespace::regnamespace || '.' || relname, 'view ' || relnamespace::regnamespace || '.' || relname || ' ('
  || (select string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum) from pg_attribute where attrelid = pg_class.oid and attnum > 0)
  || ')'
from pg_class where relkind = 'v' and relnamespace = 'holdfast'::regnamespace
order by 1
