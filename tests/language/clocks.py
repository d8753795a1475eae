"""A clock on the wall that jumps, for processes of `sq`: as when the machine slept, or its time was set."""

import shutil
import subprocess
from pathlib import Path

NO_COMPILER = "a clock that jumps needs a C compiler (.ci/install-tools installs one)"

# Moves the wall clock of a process by the seconds that a file says, and no other clock.
_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long offset(void) {
  long seconds = 0;
  FILE *file = fopen(getenv("CLOCK_OFFSET"), "r");
  if (file) { if (fscanf(file, "%ld", &seconds) != 1) seconds = 0; fclose(file); }
  return seconds;
}
int clock_gettime(clockid_t id, struct timespec *at) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int failed = real(id, at);
  if (!failed && id == CLOCK_REALTIME) at->tv_sec += offset();
  return failed;
}
time_t time(time_t *at) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (at) *at = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval *at, void *zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  at->tv_sec = now.tv_sec;
  at->tv_usec = now.tv_nsec / 1000;
  return 0;
}
"""


def jumping_clock(clock: Path) -> dict[str, str]:
    """The variables of a process whose clock is off by the seconds in the file `clock`. Empty without a C compiler."""
    library = clock.with_suffix(".so")
    build = ["cc", "-shared", "-fPIC", "-o", str(library), "-x", "c", "-"]
    if not shutil.which("cc") or subprocess.run(build, input=_CLOCK.encode(), check=False).returncode:
        return {}
    clock.write_text("0")
    return {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(clock)}
