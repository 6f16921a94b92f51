/*
 * Preloaded into a server: some of its syncs take long, as those of a busy disk do.
 *
 * STALL_SHARE  how many of them, between 0 and 1
 * STALL_MS     how long
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double share;
static long milliseconds;
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void start(void) {
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  const char *how_many = getenv("STALL_SHARE");
  const char *how_long = getenv("STALL_MS");
  share = how_many == NULL ? 0 : atof(how_many);
  milliseconds = how_long == NULL ? 0 : atol(how_long);
  srandom(getpid());
}

static void stall(void) {
  if (random() >= share * RAND_MAX) return;
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&rest, NULL);
}

int fsync(int file) {
  stall();
  return real_fsync(file);
}

int fdatasync(int file) {
  stall();
  return real_fdatasync(file);
}
