import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { useMemoryFolder } from './test/support/memory-folder.ts'

useMemoryFolder()

/** What a deployment sets: endpoints that sign need a key for their secrets. Tests that do without one say so. */
const env = { HOLDFAST_ENCRYPTION_KEY: 'dGhpcyBrZXkgaXMgZm9yIHRlc3RzIGFsb25lLCAzMmI=' }

/** Files share the processes of their project and what those have loaded: to load the sources anew for each takes a third of the time. */
const isolate = false

const browserTimes = 'test/browser/numbers.test.ts'

/** How long something may take to become true: the default of a second is too short on a busy machine. */
const expectations = { poll: { timeout: 20_000 } }

export default defineConfig({
  test: {
    reporters: ['default', './test/support/skipped-tests.ts'],
    // Most tests wait for a database, not for a processor: one worker a core would leave the cores idle.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    projects: [
      // A property takes its time on a busy machine.
      {
        test: {
          name: 'unit',
          env,
          isolate,
          expect: expectations,
          include: [
            'src/**/*.test.ts',
            'dashboard/**/*.test.ts',
            'test/{models,reference,torture}/**/*.test.ts',
          ],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          env,
          isolate,
          expect: expectations,
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // What needs the server to itself: a transaction that is open in any database of it would be seen.
          name: 'alone',
          env,
          isolate,
          expect: expectations,
          include: ['test/alone/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'cli',
          env,
          isolate,
          expect: expectations,
          include: ['test/cli/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts', 'test/support/build.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // The dashboard in a real browser: without one its tests are skipped, and named. They mostly wait for pages to come to rest; what judges times is apart.
          name: 'browser',
          env,
          isolate,
          expect: expectations,
          include: ['test/browser/**/*.test.ts'],
          exclude: [browserTimes],
          globalSetup: ['test/support/database-server.ts', 'test/support/build.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 4 },
        },
      },
      {
        test: {
          // What measures the browser needs the machine to itself, and skips what a load above twice the cores would spoil: so it comes after the faults, which leave the
          // cores idle half of the time, and not after the browsers side by side.
          name: 'browser-times',
          env,
          isolate,
          expect: expectations,
          include: [browserTimes],
          globalSetup: ['test/support/database-server.ts', 'test/support/build.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          name: 'faults',
          env,
          isolate,
          expect: expectations,
          include: ['test/faults/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts', 'test/support/build.ts'],
          testTimeout: 300_000,
          hookTimeout: 60_000,
          // Each starts processes of its own and mostly waits for timers of seconds.
          maxWorkers: 4,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
