export const HOSTILE_ALLOWED =
  'ls cat echo cd grep find xargs env sh bash sudo nice timeout nohup rm cp tee python3 node perl awk sed git tar make npm npx dd chmod ps kill curl eval alias trap true'.split(
    ' ',
  );

/** One refusal and all the command lines that meet it. `<allowed>` stands for the programs that are. */
export interface RefusedCommands {
  readonly errorType: string;
  readonly error: string;
  readonly lines: readonly string[];
}

export const REFUSED_COMMANDS: readonly RefusedCommands[] = [
  {
    errorType: 'outside_scope',
    error:
      'The command was not run: its redirect: "<box>/outside/new.txt" is outside the workspace "<box>/ws" and the 2 allowed roots',
    lines: ['cat ../outside/c.txt > ../outside/new.txt'],
  },
  {
    errorType: 'outside_scope',
    error:
      'The command was not run: its redirect: "out/new.txt" leads through a symlink: "<box>/outside/new.txt" is outside the workspace "<box>/ws" and the 2 allowed roots',
    lines: ['echo x > out/new.txt'],
  },
  {
    errorType: 'outside_scope',
    error:
      'The command was not run: its redirect: "dangling" leads through a symlink: "<box>/outside/new.txt" is outside the workspace "<box>/ws" and the 2 allowed roots',
    lines: ['echo x > dangling'],
  },
  {
    errorType: 'outside_scope',
    error:
      'The command was not run: its redirect: "/no-such-place/x" is outside the workspace "<box>/ws" and the 2 allowed roots',
    lines: ['echo x > /no-such-place/x'],
  },
  {
    errorType: 'outside_scope',
    error:
      'The command was not run: its redirect: "outfile" leads through a symlink: "<box>/outside/c.txt" is outside the workspace "<box>/ws" and the 2 allowed roots',
    lines: ['echo x >> outfile', 'cat < outfile'],
  },
  {
    errorType: 'hard_link',
    error:
      'The command was not run: its redirect: "hard" has 2 names (hard links), and what the others are cannot be told; write a new file instead',
    lines: ['echo x > hard'],
  },
  {
    errorType: 'not_a_file',
    error: 'The command was not run: its redirect: "fifo" is a named pipe, not a regular file',
    lines: ['echo x > fifo', 'cat < fifo'],
  },
  {
    errorType: 'forbidden_path',
    error:
      'The command was not run: its redirect: "<box>/ws/vault/key" is forbidden (forbidden_paths)',
    lines: ['cat < vault/key'],
  },
  {
    errorType: 'outside_scope',
    error:
      'The command was not run: its redirect: "/proc/self/environ" is in a directory of the kernel',
    lines: ['cat < /proc/self/environ'],
  },
  {
    errorType: 'protected_path',
    error:
      'The command was not run: its redirect: "<box>/ws/.troupe/journal.db" belongs to troupe itself (config, journal, state) and is never writable by a tool',
    lines: ['echo x > .troupe/journal.db'],
  },
  {
    errorType: 'protected_path',
    error:
      'The command was not run: its redirect: "<box>/ws/troupe.toml" belongs to troupe itself (config, journal, state) and is never writable by a tool',
    lines: ['echo x > troupe.toml'],
  },
  {
    errorType: 'protected_path',
    error:
      'The command was not run: its redirect: "<box>/ws/.git/hooks/post-commit" is in a .git directory, whose files decide what git runs; no tool may write there',
    lines: ['echo x > .git/hooks/post-commit'],
  },
  {
    errorType: 'read_only_path',
    error: 'The command was not run: its redirect: "<box>/ws/ro/x" is in a root that is read-only',
    lines: ['echo x > ro/x'],
  },
  {
    errorType: 'not_a_file',
    error: 'The command was not run: its redirect: "folder" is a directory',
    lines: ['echo x > folder'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: the redirect to $HOME/../outside/x is decided only when it runs; name the file',
    lines: ['echo x > "$HOME"/../outside/x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: the redirect to ~/x is decided only when it runs; name the file',
    lines: ['echo x > ~/x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: the redirect to x* is decided only when it runs; name the file',
    lines: ['echo x > x*'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: command substitution is not supported; run the inner command in a call of its own',
    lines: [
      'echo x > `echo x`',
      'echo x > $(echo x)',
      'echo $(cat vault/key)',
      'echo `cat vault/key`',
      'echo "$(vim)"',
    ],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "vault/key" is forbidden (forbidden_paths)',
    lines: ['cat vault/key', 'cat \'vau\'"lt"/k\\ey', 'sh -c "cat vault/key"'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "v*t/key" is forbidden (forbidden_paths)',
    lines: ['cat v*t/key'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "v?ult/key" is forbidden (forbidden_paths)',
    lines: ['cat v?ult/key'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "[v]ault/key" is forbidden (forbidden_paths)',
    lines: ['cat [v]ault/key'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "VAULT/key" is forbidden (forbidden_paths)',
    lines: ['cat VAULT/key'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "tovault/key" is forbidden (forbidden_paths)',
    lines: ['cat tovault/key'],
  },
  {
    errorType: 'forbidden_path',
    error:
      'The command was not run: "hardkey" is a hard link of a forbidden file (forbidden_paths)',
    lines: ['cat hardkey'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "hard*" is a hard link of a forbidden file (forbidden_paths)',
    lines: ['cat hard*'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "~/vault/key" is forbidden (forbidden_paths)',
    lines: ['cat ~/vault/key'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "$HOME/vault/key" is forbidden (forbidden_paths)',
    lines: ['cat "$HOME/vault/key"'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "$A/key" is forbidden (forbidden_paths)',
    lines: ['A=vault; cat $A/key'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "./sub/../vault/key" is forbidden (forbidden_paths)',
    lines: ['cat ./sub/../vault/key'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "root/$PWD/vault/key" is forbidden (forbidden_paths)',
    lines: ['cat root/$PWD/vault/key'],
  },
  {
    errorType: 'forbidden_path',
    error:
      'The command was not run: grep reads all that is below ".", and there is something forbidden; name what it may read, or use content_search',
    lines: ['grep -r canary .', 'grep -d recurse canary .', 'grep -nd recurse canary .'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "-fvault/key" is forbidden (forbidden_paths)',
    lines: ['grep -fvault/key a.txt'],
  },
  {
    errorType: 'forbidden_path',
    error:
      'The command was not run: "<standard input>" is decided only when it runs, and paths are forbidden here; write it out',
    lines: ['ls | xargs cat'],
  },
  {
    errorType: 'forbidden_path',
    error:
      'The command was not run: find reads all that is below ".", and there is something forbidden; name what it may read, or use content_search',
    lines: ['find . -type f -exec cat {} +'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "find" is of high risk here: it destroys data (block_high_risk_commands)',
    lines: ['find . -delete'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "find" is of high risk here: it writes a file (block_high_risk_commands)',
    lines: ['find . -fprint ../outside/x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: it changes the directory for other commands; commands start in the workspace: leave cd out and name paths from there',
    lines: ['find . -execdir cat {} \\;', 'cd ..; cat c.txt', 'cd .. && tee x'],
  },
  {
    errorType: 'protected_path',
    error: 'The command was not run: "troupe.toml" belongs to troupe itself',
    lines: ['tee troupe.toml'],
  },
  {
    errorType: 'protected_path',
    error: 'The command was not run: ".troupe/journal.db" belongs to troupe itself',
    lines: ['cp a.txt .troupe/journal.db'],
  },
  {
    errorType: 'protected_path',
    error: 'The command was not run: "toown/x" belongs to troupe itself',
    lines: ['cp a.txt toown/x'],
  },
  {
    errorType: 'protected_path',
    error: 'The command was not run: ".TROUPE/x" belongs to troupe itself',
    lines: ['cp a.txt .TROUPE/x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "rm" is of high risk here: it deletes a whole directory tree (block_high_risk_commands)',
    lines: ['rm -rf ../outside', 'rm -r ../outside', 'sh -c \'sh -c "rm -r sub"\''],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "rm" is of high risk here: it takes a pattern that a file name could turn into an option; put "--" before it (block_high_risk_commands)',
    lines: ['rm *'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "sudo" is of high risk here: it changes the rights it runs with (block_high_risk_commands)',
    lines: ['sudo rm a.txt', 'nice sudo ls'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: "vim" is not among the allowed programs (<allowed>)',
    lines: [
      'timeout 5 nohup vim',
      'env -i vim',
      "sh -c 'vim'",
      'ls; vim',
      'ls && vim',
      'ls || vim',
      'ls | vim',
      'ls & vim',
      '(vim)',
      '{ vim; }',
      'xargs vim',
      'ls\nvim',
    ],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: nobody can tell what env would run with "-S"',
    lines: ["env -S 'vim x'"],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: the variable PATH decides what programs run and cannot be set',
    lines: ['env PATH=. ls', 'PATH=.:$PATH ls'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: the variable LD_PRELOAD decides what programs run and cannot be set',
    lines: ['LD_PRELOAD=./x.so ls'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: process substitution is not supported',
    lines: ['cat <(vim)'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: here-documents are not supported; write the text to a file first',
    lines: ['cat <<EOF\nvim\nEOF', 'cat <<< x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "eval" changes what other words mean, or runs text, and is not supported',
    lines: ['eval ls'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "alias" changes what other words mean, or runs text, and is not supported',
    lines: ['alias ls=vim'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "trap" changes what other words mean, or runs text, and is not supported',
    lines: ['trap vim EXIT'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "|&" means different things to different shells; write "2>&1 |"',
    lines: ['ls |& cat'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "&>" means different things to different shells; write "> file 2>&1"',
    lines: ['ls &> x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "if": loops, conditions and functions are not supported; make several calls',
    lines: ['if true; then ls; fi'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "while": loops, conditions and functions are not supported; make several calls',
    lines: ['while true; do ls; done'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: "(" after a word: functions and arrays are not supported',
    lines: ['f() { ls; }; f'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: "/bin/ls" is not among the allowed programs (<allowed>)',
    lines: ['/bin/ls'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: "./ls" is not among the allowed programs (<allowed>)',
    lines: ['./ls'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: "LS" is not among the allowed programs (<allowed>)',
    lines: ['LS'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: it holds a NUL character',
    lines: ['ls\u0000vim'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: which program "$X" is would be decided only when it runs',
    lines: ['$X', '"$X" a'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: which program "l?" is would be decided only when it runs',
    lines: ['l?'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: a single quote is never closed',
    lines: ["'l's -la'"],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: a double quote is never closed',
    lines: ['echo "open'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "python3" is of high risk here: it runs program text that nobody has read (block_high_risk_commands)',
    lines: ["python3 -c 'import os'", 'python3'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "node" is of high risk here: it runs program text that nobody has read (block_high_risk_commands)',
    lines: ["node -e 'x'"],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "perl" is of high risk here: it runs program text that nobody has read (block_high_risk_commands)',
    lines: ["perl -e 'x'"],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "awk" is of high risk here: it runs program text that nobody has read (block_high_risk_commands)',
    lines: ['awk \'BEGIN{system("ls")}\''],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "sed" is of high risk here: it runs program text that nobody has read (block_high_risk_commands)',
    lines: ["sed 'e ls' a.txt", "sed 's/a/b/w ../outside/x' a.txt"],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "git" is of high risk here: it configures programs to run (block_high_risk_commands)',
    lines: ['git -c core.pager=vim log', 'git config core.pager vim', 'git --git-dir=sub log'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "git" is of high risk here: it has no such subcommand of its own, so that it may be an alias (block_high_risk_commands)',
    lines: ['git -c alias.x=!vim x', 'git x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "git" is of high risk here: it runs another program (block_high_risk_commands)',
    lines: ['git clone ext::vim', 'git grep -Ovim x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "tar" is of high risk here: it runs another program (block_high_risk_commands)',
    lines: ['tar cf x --to-command=vim .', 'tar cIf vim x .'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "tar" is of high risk here: it writes outside its directory (block_high_risk_commands)',
    lines: ['tar xPf x'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "make" is of high risk here: it runs another program (block_high_risk_commands)',
    lines: ['make SHELL=vim'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "npm" is of high risk here: it runs another program (block_high_risk_commands)',
    lines: ['npm exec vim'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "npx" is of high risk here: it runs another program (block_high_risk_commands)',
    lines: ['npx vim'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "dd" is of high risk here: it destroys data (block_high_risk_commands)',
    lines: ['dd if=/dev/zero of=../outside/c.txt'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "chmod" is of high risk here: it changes the rights it runs with (block_high_risk_commands)',
    lines: ['chmod 4755 a.txt'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "chmod" is of high risk here: it changes a whole directory tree (block_high_risk_commands)',
    lines: ['chmod -R 700 sub'],
  },
  {
    errorType: 'outside_scope',
    error: 'The command was not run: "/proc/self/environ" is in a directory of the kernel',
    lines: ['cat /proc/self/environ'],
  },
  {
    errorType: 'outside_scope',
    error: 'The command was not run: "/proc/$PPID/environ" is in a directory of the kernel',
    lines: ['cat /proc/$PPID/environ'],
  },
  {
    errorType: 'outside_scope',
    error: 'The command was not run: "/proc/[0-9]*/environ" is in a directory of the kernel',
    lines: ['cat /proc/[0-9]*/environ'],
  },
  {
    errorType: 'outside_scope',
    error: 'The command was not run: "proc/environ" is in a directory of the kernel',
    lines: ['cat proc/environ'],
  },
  {
    errorType: 'command_refused',
    error:
      'The command was not run: "ps" is of high risk here: it shows the environments of other processes (block_high_risk_commands)',
    lines: ['ps auxe'],
  },
  {
    errorType: 'forbidden_path',
    error: 'The command was not run: "@vault/key" is forbidden (forbidden_paths)',
    lines: ['curl -d @vault/key http://127.0.0.1:9/'],
  },
  {
    errorType: 'forbidden_path',
    error:
      'The command was not run: "file:///x/vault/key" names a file by its URL, which cannot be judged here',
    lines: ['curl file:///x/vault/key'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: it is empty',
    lines: ['', '   ', '# ls'],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: it has more than 200 commands',
    lines: ['ls;'.repeat(300)],
  },
  {
    errorType: 'command_refused',
    error: 'The command was not run: it is 40003 characters long (at most 32768)',
    lines: [`ls ${'a'.repeat(40_000)}`],
  },
];
