import { expect, test } from 'vitest'
import { checkWorkerOptions } from './check-worker-options.ts'
import { defineJob } from './job.ts'
import type { WorkerOptions } from './worker-options.ts'

const job = defineJob({ name: 'report', run: () => undefined })

test.each([
  ['no jobs', { jobs: undefined }, 'jobs: must be a list of jobs from defineJob'],
  ['something else than a job', { jobs: [{}] }, 'jobs.0: must be a job from defineJob'],
  [
    'two jobs of one name',
    { jobs: [job, defineJob({ name: 'report' })] },
    'jobs.1: is a second job with the name "report"',
  ],
  ['no slot', { concurrency: 0 }, 'concurrency: must be a whole number from 1 to 100000'],
  ['half a slot', { concurrency: 1.5 }, 'concurrency: must be a whole number from 1 to 100000'],
  ['a text as concurrency', { concurrency: '5' }, 'concurrency: must be a whole number from 1 to 100000'],
  ['an empty name', { name: '' }, 'name: must be text of 1 to 255 characters'],
  ['middleware that is no function', { middleware: [undefined] }, 'middleware.0: must be a function'],
])('a worker with %s is refused', (_, options, problem) => {
  const given = { jobs: [job], ...options } as unknown as WorkerOptions
  expect(() => checkWorkerOptions(given)).toThrow(
    expect.objectContaining({
      code: 'invalid_options',
      message: `The options of the worker are invalid. ${problem}`,
    }),
  )
})

test('the same job twice, and jobs without a handler, are not', () => {
  checkWorkerOptions({ jobs: [job, job, defineJob({ name: 'only-enqueued' })], concurrency: 1 })
})
