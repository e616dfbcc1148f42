import { spawnSync } from 'node:child_process'

/** The receivers of this folder: how to build and start each, and the tool that it needs. `{port}` becomes a free port. */
export const languages = [
  { language: 'Node.js', tool: 'node', file: 'receiver.mjs', command: ['node', 'receiver.mjs'] },
  { language: 'Python', tool: 'python3', file: 'receiver.py', command: ['python3', 'receiver.py'] },
  {
    language: 'Go',
    tool: 'go',
    file: 'receiver.go',
    build: ['go', 'build', '-o', '{folder}/receiver', 'receiver.go'],
    command: ['{folder}/receiver'],
  },
  {
    language: 'PHP',
    tool: 'php',
    file: 'receiver.php',
    command: ['php', '-S', '127.0.0.1:{port}', 'receiver.php'],
  },
  {
    language: 'Java',
    tool: 'javac',
    file: 'Receiver.java',
    build: ['javac', '-d', '{folder}', 'Receiver.java'],
    command: ['java', '-cp', '{folder}', 'Receiver'],
  },
]

export function isInstalled({ tool }) {
  return spawnSync(tool, [tool === 'go' ? 'version' : '--version']).status === 0
}
