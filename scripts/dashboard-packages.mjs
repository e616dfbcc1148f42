import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Development dependencies for building the dashboard. A `node_modules` older than the lock file may lack them. */
const packages = ['react', '@tanstack/react-router', '@base-ui/react', 'tailwindcss', 'uplot']

export function hasDashboardPackages(root) {
  return packages.every((name) => existsSync(join(root, 'node_modules', name, 'package.json')))
}
