import { writeFileSync } from 'node:fs';
import { Fault, messageOf } from '../base/fault.ts';
import type { Context } from './context.ts';
import { EXIT } from './core/exit-code.ts';
import { safeLine } from './core/plain-text.ts';
import { STARTER_CONFIG } from './core/starter-config.ts';

/** `troupe init`: writes a small commented configuration, never over one that is there (SPEC K3). */
export async function initCommand({ terminal, options }: Context): Promise<number> {
  const { config: file } = options;
  try {
    writeFileSync(file, STARTER_CONFIG, { flag: 'wx' });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') {
      throw new Fault(
        'argument.invalid',
        `${file} exists already and is left as it is; \`troupe check\` validates it, --config names another file`,
      );
    }
    throw new Fault('argument.invalid', `${file} cannot be written: ${messageOf(thrown)}`);
  }
  if (options.quiet) return EXIT.completed;
  terminal.say(
    `wrote ${safeLine(file)}; next: \`ollama pull qwen3\` (or name another model in it),`,
  );
  terminal.say('then `troupe check`, then `troupe run lead "What is in this folder?"`');
  return EXIT.completed;
}
