/** Characters that some file systems leave out of a name when they compare it. */
const IGNORED = /\p{Default_Ignorable_Code_Point}/gu;
/** FAT and NTFS drop these at the end of a name. */
const DROPPED_ENDS = /(?!^)[. ]+$/;

/**
 * What a name is on the most forgiving file system: case, the Unicode form, invisible characters and trailing dots make
 * no difference. Two names that share it may be one file, and nobody can tell from the names which file system they are
 * on. So a rule that refuses compares names in this form, everywhere; one that allows compares them as they are.
 */
export function foldedName(name: string): string {
  if (PLAIN.test(name)) return name.toLowerCase();
  const bare = name.normalize('NFKC').replace(IGNORED, '').replace(DROPPED_ENDS, '');
  return bare.toUpperCase().toLowerCase().normalize('NFC');
}

/** ASCII without anything that is dropped: most names. */
const PLAIN = /^[\x21-\x7e]*[\x21-\x2d\x2f-\x7e]$/;

/** A name of git's own directory: also its short form on FAT, and with a stream of NTFS behind it. */
export function isGitDirName(name: string): boolean {
  const folded = foldedName(name);
  return folded === '.git' || folded === 'git~1' || folded.startsWith('.git::$');
}
