/* Bends paths as fast as the system can: swaps two names, or moves a folder to and fro, until SIGTERM. Prints a line
 * after the first time and one after the eleventh, and at the end how often that worked. Ends with the program that
 * started it, too. Usage: swapper exchange|move A B */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE 2
#endif

static volatile sig_atomic_t stopped;

static void stop(int signal) {
  (void)signal;
  stopped = 1;
}

int main(int count, char **words) {
  if (count != 4) return 2;
  const char *one = words[2], *other = words[3];
  const int exchange = strcmp(words[1], "exchange") == 0;
  const pid_t parent = getppid();
  unsigned long turns = 0, swaps = 0;
  int begun = 0, many = 0;
  signal(SIGTERM, stop);
  while (!stopped) {
    if (++turns % 1024 == 0 && getppid() != parent) break;
    if (exchange) {
      swaps += syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0;
    } else {
      swaps += rename(one, other) == 0;
      swaps += rename(other, one) == 0;
    }
    if (swaps > 0 && !begun) {
      begun = 1;
      puts("begun");
      fflush(stdout);
    }
    if (swaps > 10 && !many) {
      many = 1;
      puts("many");
      fflush(stdout);
    }
  }
  printf("%lu\n", swaps);
  return 0;
}
