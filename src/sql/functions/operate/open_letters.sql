-- How many letters are open in all lanes.
create or replace function holdfast_internal.open_letters() returns bigint
language sql stable
return (select coalesce(sum(letters), 0)::bigint from holdfast_internal.counted_letters() where state = 'open');
