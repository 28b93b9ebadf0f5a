# What confines the benchmark in the setting apparmor-confined: everything it does is allowed by a rule.
profile ringcap {
  file,
  capability,
  network,
  unix,
  signal,
  ptrace,
  mount,
  umount,
}
