import { expect, it } from 'vitest'
import { DatabaseWatch } from './database-watch.ts'

it('says once in the log that the database is away, repeats it every quarter of an hour, and says when it is back', () => {
  const lines: string[] = []
  const note = (level: string) => (_: object, message: string) => lines.push(`${level} ${message}`)
  const logger = { debug() {}, info: note('info'), warn: note('warn'), error: note('error') }
  let nowMs = 0
  const watch = new DatabaseWatch({
    logger,
    nodeName: 'node-1',
    runbookUrl: 'runbook.md',
    nowMs: () => nowMs,
  })
  const lasts = (seconds: number, isAway: boolean) => {
    for (const untilMs = nowMs + seconds * 1000; nowMs < untilMs; nowMs += 1000) watch.look(isAway)
  }
  lasts(20, true)
  lasts(60, false)
  expect(lines).toEqual([])
  lasts(1000, true)
  lasts(60, false)
  expect(lines).toEqual([
    "error [FIRING] critical: the node node-1 can't reach the database",
    "error [STILL FIRING] critical: the node node-1 can't reach the database",
    "info [RESOLVED] critical: the node node-1 can't reach the database",
  ])
})
