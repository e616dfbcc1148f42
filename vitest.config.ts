import { defineConfig } from 'vitest/config'
import { useMemoryFolder } from './test/support/memory-folder.ts'

useMemoryFolder()

/** What a deployment sets: endpoints that sign need a key for their secrets. Tests that do without one say so. */
const env = { HOLDFAST_ENCRYPTION_KEY: 'dGhpcyBrZXkgaXMgZm9yIHRlc3RzIGFsb25lLCAzMmI=' }

/** Files share the processes of their project and what those have loaded: to load the sources anew for each takes a third of the time. */
const isolate = false

export default defineConfig({
  test: {
    // Most tests wait for a database, not for a processor: one worker a core would leave the cores idle.
    maxWorkers: 5,
    projects: [
      // A property takes its time on a busy machine.
      {
        test: {
          name: 'unit',
          env,
          isolate,
          include: [
            'src/**/*.test.ts',
            'dashboard/**/*.test.ts',
            'test/{models,reference,torture}/**/*.test.ts',
          ],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          env,
          isolate,
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts'],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // What needs the server to itself: a transaction that is open in any database of it would be seen.
          name: 'alone',
          env,
          isolate,
          include: ['test/alone/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts'],
          testTimeout: 30_000,
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
          include: ['test/cli/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts', 'test/support/build.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          // The dashboard in a real browser: without one its tests are skipped, and named.
          name: 'browser',
          env,
          isolate,
          include: ['test/browser/**/*.test.ts'],
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
          include: ['test/faults/**/*.test.ts'],
          globalSetup: ['test/support/database-server.ts', 'test/support/build.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
          // Each starts processes of its own and mostly waits for timers of seconds.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
