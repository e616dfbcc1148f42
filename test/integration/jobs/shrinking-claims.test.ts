import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../../src/jobs/job.ts'
import { JobsRig } from '../../support/jobs-rig.ts'

let jobs: JobsRig

beforeAll(async () => {
  jobs = await JobsRig.create()
})
afterAll(() => jobs.stop())

test('a worker whose claims are too much for the server asks for fewer, until they pass', async () => {
  // A server that has not enough memory for a claim of more than a hundred runs.
  await jobs.rig.rows(`
    do $test$
    declare
      real regprocedure := (select oid from pg_proc where proname = 'claim_runs_v3');
      arguments text := (select pg_get_function_arguments(real));
      result text := (select pg_get_function_result(real));
    begin
      create schema ample;
      alter function holdfast_internal.claim_runs_v3 set schema ample;
      execute format(
        'create function holdfast_internal.claim_runs_v3(%s) returns %s language plpgsql as $short$
         begin
           if wanted > 100 then
             raise exception ''out of memory'' using errcode = ''53200'';
           end if;
           return query select * from ample.claim_runs_v3(me, lane, wanted, suspect_room, may_take_deadly, request, handled,
             max_bytes, max_chain, patience_ms);
         end $short$', arguments, result);
    end $test$`)
  const seen = new Set<unknown>()
  const job = defineJob({ name: 'many', run: (input) => void seen.add(input) })
  await jobs.rig.client().enqueueBatch(
    job,
    Array.from({ length: 300 }, (_, n) => ({ input: n })),
  )
  await jobs.work({ jobs: [job], concurrency: 1000 })
  await jobs.whenDone()
  expect(seen.size).toBe(300)
  expect(jobs.complaints.filter((complaint) => complaint.startsWith('Claiming failed'))).not.toEqual([])
})
