// lint.mjs MODULES VERSION FILE...: `php -l` of another PHP version. MODULES is the folder whose node_modules holds the builds.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [modules, version, ...files] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { PHP, loadPHPRuntime } = require('@php-wasm/universal');
const { getPHPLoaderModule } = require(`@php-wasm/node-${version.replace('.', '-')}`);
const loader = await getPHPLoaderModule();

for (const file of files) {
  // A runtime ends with its command, so each file gets its own.
  const php = new PHP(await loadPHPRuntime(loader, { processId: 1 }));
  php.writeFile('/input.php', readFileSync(file));
  const result = await php.cli(['php', '-l', '/input.php']);
  if (await result.exitCode) {
    console.log(`${file}: ${(await result.stdoutText).trim()}`);
    process.exitCode = 1;
  }
}
