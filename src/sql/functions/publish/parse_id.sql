create or replace function holdfast.parse_id(prefix text, id text) returns bigint
language plpgsql immutable parallel safe as $$
declare
  digits text := substr(id, length(prefix) + 2);
  result bigint := 0;
  digit integer;
begin
  if id is null or left(id, length(prefix) + 1) <> prefix || '_' or length(digits) <> 11 then
    raise exception 'not a % id: %', prefix, coalesce(id, 'null')
      using errcode = '22023', hint = format('An id of this kind looks like %s_00000000001.', prefix);
  end if;
  for place in 1..11 loop
    digit := strpos('0123456789abcdefghjkmnpqrstvwxyz', substr(digits, place, 1)) - 1;
    if digit < 0 then
      raise exception 'not a % id: %', prefix, id using errcode = '22023';
    end if;
    result := result * 32 + digit;
  end loop;
  return result;
end $$;
