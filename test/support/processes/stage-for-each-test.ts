import { afterEach, beforeEach } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../test-database.ts'
import { Stage } from './stage.ts'

/**
 * Sets a stage on a database of its own before each test of a file, and takes both away after it.
 *
 * @example
 * let stage: Stage
 * stageForEachTest((opened) => {
 *   stage = opened
 * })
 */
export function stageForEachTest(onOpened: (stage: Stage) => void): void {
  let database: TestDatabase
  let stage: Stage

  beforeEach(async () => {
    database = await createTestDatabase()
    stage = await Stage.open(database.url)
    onOpened(stage)
  })

  afterEach(async () => {
    await stage[Symbol.asyncDispose]()
    await database.drop()
  })
}
