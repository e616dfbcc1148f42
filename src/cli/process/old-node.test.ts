import { expect, test } from 'vitest'
import { problemOfNode } from './old-node.ts'

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('Node.js %s is new enough', (running) => {
  expect(problemOfNode(running, '20.19')).toBeNull()
})

test.each(['16.20.2', '18.20.8', '20.18.3'])('Node.js %s is told which one is needed', (running) => {
  expect(problemOfNode(running, '20.19')).toBe(
    `Holdfast needs Node.js 20.19 or newer, and this is ${running}. Install a newer one: https://nodejs.org/en/download`,
  )
})
