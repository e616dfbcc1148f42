-- Every run that has not ended, a row each: it expands all bundles.
create or replace view holdfast_internal.owed_runs as
  select * from holdfast_internal.runs union all select * from holdfast_internal.all_bundled_runs();
