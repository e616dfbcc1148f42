import { expect, test } from 'vitest'
import { buildProgram } from '../program.ts'
import { commandPrefix, spellCommands } from './command-prefix.ts'

test.each([
  ['an installed command', {}, 'holdfast'],
  ['npx', { npm_command: 'exec' }, 'npx holdfast'],
  [
    'npm start in a clone',
    { npm_package_name: 'holdfast', npm_lifecycle_event: 'start' },
    'npm run -s holdfast --',
  ],
  ["another package's script", { npm_package_name: 'shop', npm_lifecycle_event: 'dev' }, 'holdfast'],
])('%s is named as it was started', (_, environment, prefix) => {
  expect(commandPrefix(environment)).toBe(prefix)
})

test('commands in a sentence are spelt that way, the product and its schema are not', () => {
  const text = 'Run `holdfast migrate` (schema holdfast), then: holdfast endpoints list'
  expect(spellCommands(text, { npm_command: 'exec' })).toBe(
    'Run `npx holdfast migrate` (schema holdfast), then: npx holdfast endpoints list',
  )
})

test('every command is known as one', async () => {
  for (const command of (await buildProgram()).commands) {
    const text = `holdfast ${command.name()}`
    expect(spellCommands(text, { npm_command: 'exec' })).toBe(`npx ${text}`)
  }
})
