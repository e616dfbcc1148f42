-- The problem of a name of a time zone; null if there is none. Names that the server may have and JavaScript doesn't know are refused.
create or replace function holdfast_internal.timezone_problem(given text, path text) returns text
language sql stable as $$
  select ltrim(path || ' must be the name of a time zone, like UTC or Europe/Berlin')
  where given ~ '^(posix/|right/|posixrules$|localtime$|Factory$)'
    or not exists (select from pg_catalog.pg_timezone_names where name = given)
$$;
