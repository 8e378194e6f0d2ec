/**
 * The requests of ioctl(2) that commands may make. Landlock has no rule for the effect of a request on a file
 * that was opened for reading, and every driver and file system has requests of its own: a Btrfs snapshot
 * shows a denied file under another name. So all others are refused.
 */

/**
 * Requests for terminals (ioctl_tty(2)), except TIOCSTI and TIOCLINUX, which type into them, and those that
 * change consoles and drivers.
 */
const terminals = {
  TCGETS: 0x5401,
  TCSETS: 0x5402,
  TCSETSW: 0x5403,
  TCSETSF: 0x5404,
  TCGETA: 0x5405,
  TCSETA: 0x5406,
  TCSETAW: 0x5407,
  TCSETAF: 0x5408,
  TCSBRK: 0x5409,
  TCXONC: 0x540a,
  TCFLSH: 0x540b,
  TIOCEXCL: 0x540c,
  TIOCNXCL: 0x540d,
  TIOCSCTTY: 0x540e,
  TIOCGPGRP: 0x540f,
  TIOCSPGRP: 0x5410,
  TIOCOUTQ: 0x5411,
  TIOCGWINSZ: 0x5413,
  TIOCSWINSZ: 0x5414,
  TIOCPKT: 0x5420,
  TIOCNOTTY: 0x5422,
  TIOCGETD: 0x5424,
  TCSBRKP: 0x5425,
  TIOCGSID: 0x5429,
  TCGETS2: 0x802c542a,
  TCSETS2: 0x402c542b,
  TCSETSW2: 0x402c542c,
  TCSETSF2: 0x402c542d,
  TIOCGPTN: 0x80045430,
  TIOCSPTLCK: 0x40045431,
  TIOCGPKT: 0x80045438,
  TIOCGPTLCK: 0x80045439,
  TIOCGPTPEER: 0x5441,
};

/** The requests of ioctl(2) that every descriptor may get. */
const descriptors = {
  FIONREAD: 0x541b,
  FIONBIO: 0x5421,
  FIONCLEX: 0x5450,
  FIOCLEX: 0x5451,
  FIOASYNC: 0x5452,
  FIOQSIZE: 0x5460,
};

/**
 * Requests for files that only read, and those whose target must be open for writing (ioctl_ficlonerange(2)).
 */
const files = {
  FIGETBSZ: 2,
  FS_IOC_FIEMAP: 0xc020660b,
  FS_IOC_GETFLAGS: 0x80086601,
  FS_IOC_FSGETXATTR: 0x801c581f,
  FICLONE: 0x40049409,
  FICLONERANGE: 0x4020940d,
};

/** Requests for sockets that only read (netdevice(7)). */
const sockets = {
  SIOCATMARK: 0x8905,
  SIOCGIFNAME: 0x8910,
  SIOCGIFCONF: 0x8912,
  SIOCGIFFLAGS: 0x8913,
  SIOCGIFADDR: 0x8915,
  SIOCGIFBRDADDR: 0x8919,
  SIOCGIFNETMASK: 0x891b,
  SIOCGIFMTU: 0x8921,
  SIOCGIFHWADDR: 0x8927,
  SIOCGIFINDEX: 0x8933,
};

/** The numbers of all these requests, which are the same on x64 and arm64. */
export const allowedRequests: readonly number[] = Object.values({
  ...terminals,
  ...descriptors,
  ...files,
  ...sockets,
});
