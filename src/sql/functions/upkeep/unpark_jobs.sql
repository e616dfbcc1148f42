-- Does nothing, for nodes and workers of earlier versions: runs that are set aside for their job no longer have to be brought back.
create or replace function holdfast_internal.unpark_jobs() returns integer
language sql as $$ select 0 $$;
