-- Ids in ascending order as ranges. Ids that were drawn together are mostly one range.
create or replace function holdfast_internal.id_ranges(ids bigint[]) returns int8multirange
language sql immutable
return case when ids[cardinality(ids)] - ids[1] = cardinality(ids) - 1 then int8multirange(int8range(ids[1], ids[cardinality(ids)], '[]'))
       else (select range_agg(int8range(id, id, '[]')) from unnest(ids) as id) end;
