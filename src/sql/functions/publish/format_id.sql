-- Prefixed ids as users see them: 11 digits of Crockford's base 32.
create or replace function holdfast.format_id(prefix text, id bigint) returns text
language sql immutable parallel safe
return prefix || '_' || (
  select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((id >> (5 * place)) & 31)::integer + 1, 1), '' order by place desc)
  from generate_series(0, 10) as place
);
