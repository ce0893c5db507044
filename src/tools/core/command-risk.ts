/** `low`: looks. `medium`: changes what is its own to change. `high`: destroys, escapes, or runs what nobody has read. */
export type Risk = 'low' | 'medium' | 'high';

export interface RiskRule {
  readonly risk: Risk;
  readonly why: string;
  /** Single letters of short options: `rR` finds `-r`, `-fR`. */
  readonly letters?: string;
  /** Long options, also abbreviated (`--recurs`) and with a value (`--exec=x`). */
  readonly long?: readonly string[];
  /** Arguments in full, or their start where they end in `*`: `-delete`, `--pre=*`. */
  readonly words?: readonly string[];
  /** A regular expression for a whole argument. */
  readonly matches?: string;
  /** Only options before the subcommand: `git -c`, not `git switch -c`. */
  readonly isGlobal?: boolean;
  /** With so many arguments that are no options, or more: `uniq in out`. */
  readonly operands?: number;
  /** Only after this subcommand: `push` of `git push`. */
  readonly subcommand?: string;
}

export interface CommandRisk {
  readonly programs: readonly string[];
  readonly risk: Risk;
  readonly why?: string;
  readonly rules?: readonly RiskRule[];
  /** A file that a leading `*` stands for could be read as an option. */
  readonly fearsGlobs?: boolean;
  /** The first argument is letters of options also without a dash: `tar xf`. */
  readonly takesBareLetters?: boolean;
  /** Its own subcommands; any other may be an alias, which runs anything. */
  readonly subcommands?: readonly string[];
}

export interface JudgedRisk {
  readonly risk: Risk;
  /** What makes it so; empty where nothing needs saying. */
  readonly why: string;
}

/** A program that no entry names. */
export const DEFAULT_RISK: Risk = 'medium';

function names(list: string): readonly string[] {
  return list.trim().split(/\s+/);
}

function high(why: string, rule: Omit<RiskRule, 'risk' | 'why'> = {}): RiskRule {
  return { risk: 'high', why, ...rule };
}

function medium(why: string, rule: Omit<RiskRule, 'risk' | 'why'>): RiskRule {
  return { risk: 'medium', why, ...rule };
}

const RUNS = 'runs another program';
const ROOT = 'changes the rights it runs with';
const SYSTEM = 'changes the system';
const NETWORK = 'opens a connection that other programs can be run through';
const DESTROYS = 'destroys data';
const CONFIGURES = 'configures programs to run';
const WRITES = 'writes a file';
const REWRITES = 'rewrites what others have';
const RECURSIVE = 'changes a whole directory tree';

const GIT_RULES: readonly RiskRule[] = [
  ...names('status log diff show rev-parse ls-files blame describe shortlog cat-file').map(
    (subcommand): RiskRule => ({ risk: 'low', why: 'looks', subcommand }),
  ),
  high(CONFIGURES, {
    letters: 'c',
    long: ['--config-env', '--exec-path', '--git-dir', '--bare'],
    isGlobal: true,
  }),
  high(CONFIGURES, { subcommand: 'init', long: ['--template', '--separate-git-dir'] }),
  high(CONFIGURES, {
    subcommand: 'clone',
    letters: 'cu',
    long: ['--config', '--template', '--separate-git-dir'],
  }),
  high(CONFIGURES, { subcommand: 'config' }),
  high(RUNS, {
    long: names(
      '--upload-pack --receive-pack --exec --open-files-in-pager --ext-diff --textconv --extcmd',
    ),
  }),
  high(RUNS, { words: ['ext::*', 'fd::*'] }),
  high(RUNS, { subcommand: 'grep', words: ['-O*'] }),
  ...names('filter-branch bisect submodule difftool mergetool').map((subcommand) =>
    high(RUNS, { subcommand }),
  ),
  high(RUNS, { subcommand: 'rebase', letters: 'xi', long: ['--interactive'] }),
  high(DESTROYS, { subcommand: 'clean' }),
  high(DESTROYS, { subcommand: 'reset', long: ['--hard'] }),
  high(REWRITES, {
    subcommand: 'push',
    letters: 'fd',
    long: ['--force', '--force-with-lease', '--mirror', '--delete', '--prune'],
    words: ['+*', ':*'],
  }),
  medium(WRITES, { long: ['--output'] }),
];

/** Without those that serve others, send mail or hand out credentials. */
const GIT_SUBCOMMANDS = names(`
  add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap
  check-ref-format checkout cherry cherry-pick clean clone column commit commit-tree config count-objects describe diff
  diff-files diff-index diff-tree difftool fast-export fetch filter-branch for-each-ref format-patch fsck gc grep
  hash-object help init interpret-trailers log ls-files ls-remote ls-tree maintenance merge merge-base merge-file
  merge-tree mergetool mktree mv name-rev notes pack-refs patch-id prune pull push range-diff read-tree rebase reflog
  remote repack replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref
  sparse-checkout stash status stripspace submodule switch symbolic-ref tag update-index update-ref verify-commit
  verify-tag version whatchanged worktree write-tree`);

/** What is known of programs, as data. The riskiest rule that fits decides; see `riskOf`. */
export const COMMAND_RISKS: readonly CommandRisk[] = [
  {
    programs: names(`
      ls cat head tail wc grep egrep fgrep echo printf pwd cd : true false test [ cut tr diff cmp comm stat
      du df basename dirname realpath readlink which type nl rev tac paste join seq expr sleep printenv env id whoami
      uname jq column md5sum sha1sum sha256sum cksum base64 od hexdump strings fold exit
      export readonly declare typeset local read unset set shift wait umask getopts let
      nohup nice ionice timeout stdbuf time command builtin exec xargs chronic busybox toybox`),
    risk: 'low',
  },
  {
    programs: ['date'],
    risk: 'low',
    rules: [high(SYSTEM, { words: ['-s*', '-us*'], long: ['--set'], matches: '[0-9]{8,}.*' })],
  },
  { programs: names('uniq xxd'), risk: 'low', rules: [medium(WRITES, { operands: 2 })] },
  { programs: ['tree'], risk: 'low', rules: [medium(WRITES, { letters: 'o' })] },
  {
    programs: ['file'],
    risk: 'low',
    rules: [medium(WRITES, { letters: 'C', long: ['--compile'] })],
  },
  { programs: ['hostname'], risk: 'low', rules: [high(SYSTEM, { letters: 'F', operands: 1 })] },
  {
    programs: ['ps'],
    risk: 'low',
    rules: [
      high('shows the environments of other processes', {
        letters: 'E',
        matches:
          '.*environ.*|(?!(?:[efrs]?user|tname)$)[aAcCeEfgGhHjkKlLmMnNOopqrsStTuUvVwxXZ]*e[aAcCeEfgGhHjkKlLmMnNOopqrsStTuUvVwxXZ]*',
      }),
    ],
  },
  {
    programs: ['sort'],
    risk: 'low',
    rules: [
      high(RUNS, { long: ['--compress-program'] }),
      medium(WRITES, { letters: 'o', long: ['--output'] }),
    ],
  },
  { programs: ['split'], risk: 'medium', rules: [high(RUNS, { long: ['--filter'] })] },
  {
    programs: ['rg'],
    risk: 'low',
    rules: [high(RUNS, { words: ['--pre', '--pre=*', '--hostname-bin*'] })],
  },
  {
    programs: ['find'],
    risk: 'low',
    rules: [high(DESTROYS, { words: ['-delete'] }), high(WRITES, { words: ['-fprint*', '-fls*'] })],
  },
  {
    programs: ['fd', 'fdfind'],
    risk: 'low',
    rules: [high(RUNS, { letters: 'xX', long: ['--exec', '--exec-batch'] })],
  },
  {
    programs: ['rm', 'unlink', 'rmdir'],
    risk: 'medium',
    fearsGlobs: true,
    rules: [
      high('deletes a whole directory tree', { letters: 'rR', long: ['--recursive'] }),
      high(DESTROYS, { long: ['--no-preserve-root'] }),
    ],
  },
  {
    programs: ['chmod', 'chown', 'chgrp'],
    risk: 'medium',
    fearsGlobs: true,
    rules: [
      high(RECURSIVE, { letters: 'R', long: ['--recursive'] }),
      high(ROOT, { matches: '(?:.*,)?[ugoa]*[+=][rwxXugo]*s.*|0*[2-7][0-7]{3}' }),
    ],
  },
  { programs: names('npx bunx pnpx'), risk: 'high', why: RUNS },
  {
    programs: names('npm pnpm yarn bun'),
    risk: 'medium',
    rules: [
      ...names('exec x dlx explore config set create innit').map((subcommand) =>
        high(RUNS, { subcommand }),
      ),
      high(RUNS, { subcommand: 'init', operands: 2 }),
    ],
  },
  {
    programs: names(
      'uv poetry pipenv pdm hatch rye conda mamba bundle rbenv pyenv asdf mise direnv nix',
    ),
    risk: 'medium',
    rules: names('run exec tool shell develop x').map((subcommand) => high(RUNS, { subcommand })),
  },
  { programs: names('dd shred wipefs truncate srm'), risk: 'high', why: DESTROYS },
  {
    programs: names(`
      mkfs mkswap fdisk sfdisk cfdisk parted mount umount losetup swapon shutdown reboot halt poweroff init telinit
      systemctl service launchctl systemd-run iptables ip6tables nft ufw insmod modprobe rmmod sysctl useradd userdel
      usermod groupadd groupdel passwd chpasswd visudo vipw setcap crontab at batch
      apt apt-get dpkg yum dnf rpm apk pacman snap brew`),
    risk: 'high',
    why: SYSTEM,
  },
  {
    programs: names('sudo su doas pkexec runuser chroot unshare nsenter setpriv capsh sg'),
    risk: 'high',
    why: ROOT,
  },
  {
    programs: names('nc ncat netcat socat telnet ssh scp sftp ftp rlogin rsh'),
    risk: 'high',
    why: NETWORK,
  },
  {
    programs: names(`
      setsid daemonize start-stop-daemon screen tmux watch script parallel expect flock strace ltrace gdb lldb
      docker podman kubectl nerdctl entr run-parts vi vim nvim view ex ed emacs nano less more man . source
      osascript pwsh powershell wish tclsh m4 dc unbuffer setarch linux32 linux64 i386 x86_64 valgrind perf taskset chrt
      cpulimit prlimit numactl firejail bwrap proot fakeroot fakechroot eatmydata faketime dbus-run-session xvfb-run
      ssh-agent torsocks proxychains su-exec gosu tini dumb-init rlwrap ccache distcc scl uvx pipx ld.so catchsegv xterm`),
    risk: 'high',
    why: RUNS,
  },
  { programs: names('killall pkill fuser'), risk: 'high', why: 'ends processes by name' },
  {
    programs: ['kill'],
    risk: 'medium',
    rules: [high('ends every process', { words: ['-1', '1', '0'] })],
  },
  {
    programs: ['tar', 'bsdtar'],
    risk: 'medium',
    takesBareLetters: true,
    rules: [
      high('takes its options from a file', { letters: 'T', long: ['--files-from'] }),
      high(RUNS, {
        letters: 'IF',
        long: names(`--to-command --checkpoint-action --use-compress-program --rsh-command --info-script
          --new-volume-script --rmt-command`),
      }),
      high('writes outside its directory', { letters: 'P', long: ['--absolute-names'] }),
    ],
  },
  {
    programs: ['zip'],
    risk: 'medium',
    rules: [high(RUNS, { words: ['-TT*', '--unzip-command*'] })],
  },
  {
    programs: ['rsync'],
    risk: 'medium',
    rules: [
      high(RUNS, { letters: 'e', long: ['--rsh', '--rsync-path'] }),
      high(DESTROYS, { long: ['--delete'] }),
    ],
  },
  {
    programs: ['make', 'gmake'],
    risk: 'medium',
    rules: [high(RUNS, { words: ['SHELL=*', '--eval*', '-E*'] })],
  },
  { programs: ['git'], risk: 'medium', rules: GIT_RULES, subcommands: GIT_SUBCOMMANDS },
  {
    programs: ['curl', 'wget'],
    risk: 'medium',
    rules: [
      high('takes its options from a file or runs a program', {
        letters: 'K',
        long: ['--config', '--use-askpass'],
      }),
      high(NETWORK, { long: ['--unix-socket', '--abstract-unix-socket'] }),
    ],
  },
];
