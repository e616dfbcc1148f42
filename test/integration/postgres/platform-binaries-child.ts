// Prepares the binaries as whatever account this process runs under, and prints where they are.
import { preparePlatformBinaries } from '../../../src/postgres/embedded/platform-binaries.ts'

const [packageDir, copyDir] = process.argv.slice(2)
const { postgres } = await preparePlatformBinaries({
  user: null,
  copyDirs: [copyDir!],
  packageDir: packageDir!,
})
console.log(postgres)
