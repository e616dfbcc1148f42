-- How callers know each function: names of arguments count, because SQL may call by name.
select proname || '(' || pg_get_function_identity_arguments(oid) || ') returns ' || pg_get_function_result(oid) as signature
from pg_proc where pronamespace = 'holdfast'::regnamespace
order by (proname || '(' || pg_get_function_identity_arguments(oid)) collate "C"
