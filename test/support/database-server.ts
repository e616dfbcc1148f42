import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A server on which tests may create databases, with the rights of a superuser. */
    databaseUrl: string
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide(
    'databaseUrl',
    process.env['HOLDFAST_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres',
  )
}
