/*
 * Preloaded into a server: remembers what every write to its files replaced, until the file is synced.
 * After a kill, undoing what is remembered leaves what a disk has kept that lost all it was never told to keep.
 *
 * UNSYNCED_FOLDER  files below this folder are meant
 * UNSYNCED_LOG     where it is remembered: a record each of
 *                  type ('W' written, 'T' truncated, 'S' synced), length of path, offset, old size, length of old bytes; path; old bytes
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct record {
  char type;
  char padding[3];
  uint32_t path_length;
  uint64_t offset;
  uint64_t old_size;
  uint64_t old_length;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_file = -1;
static const char *folder;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void start(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  folder = getenv("UNSYNCED_FOLDER");
  const char *log = getenv("UNSYNCED_LOG");
  if (folder != NULL && log != NULL) log_file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The path behind a descriptor, if it is one of those that are meant. */
static int is_meant(int file, char *path, size_t size) {
  if (log_file < 0 || file == log_file) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, size - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, folder, strlen(folder)) == 0;
}

static void remember(char type, int file, const char *path, off_t offset, size_t length) {
  struct stat status;
  if (fstat(file, &status) != 0) return;
  struct record record = {.type = type, .path_length = strlen(path), .offset = offset, .old_size = status.st_size};
  char *old = NULL;
  if (length > 0 && offset < status.st_size) {
    size_t there = (size_t)(status.st_size - offset) < length ? (size_t)(status.st_size - offset) : length;
    /* The descriptor may not be readable. */
    int reading = open(path, O_RDONLY | O_CLOEXEC);
    old = malloc(there);
    ssize_t got = reading < 0 || old == NULL ? -1 : pread(reading, old, there, offset);
    if (reading >= 0) close(reading);
    if (got > 0) record.old_length = got;
  }
  struct iovec parts[3] = {{&record, sizeof record}, {(void *)path, record.path_length}, {old, record.old_length}};
  if (writev(log_file, parts, 3) < 0) abort();
  free(old);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off_t offset) {
  char path[4096];
  if (!is_meant(file, path, sizeof path)) return real_pwrite(file, bytes, length, offset);
  pthread_mutex_lock(&mutex);
  remember('W', file, path, offset, length);
  ssize_t written = real_pwrite(file, bytes, length, offset);
  pthread_mutex_unlock(&mutex);
  return written;
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t offset) { return pwrite64(file, bytes, length, offset); }

ssize_t write(int file, const void *bytes, size_t length) {
  char path[4096];
  if (!is_meant(file, path, sizeof path)) return real_write(file, bytes, length);
  pthread_mutex_lock(&mutex);
  off_t offset = (fcntl(file, F_GETFL) & O_APPEND) ? lseek(file, 0, SEEK_END) : lseek(file, 0, SEEK_CUR);
  remember('W', file, path, offset, length);
  ssize_t written = real_write(file, bytes, length);
  pthread_mutex_unlock(&mutex);
  return written;
}

int ftruncate64(int file, off_t size) {
  char path[4096];
  if (!is_meant(file, path, sizeof path)) return real_ftruncate(file, size);
  pthread_mutex_lock(&mutex);
  struct stat status;
  size_t cut = fstat(file, &status) == 0 && status.st_size > size ? (size_t)(status.st_size - size) : 0;
  remember('T', file, path, size, cut);
  int result = real_ftruncate(file, size);
  pthread_mutex_unlock(&mutex);
  return result;
}

int ftruncate(int file, off_t size) { return ftruncate64(file, size); }

static int synced(int file, int (*sync)(int)) {
  char path[4096];
  int meant = is_meant(file, path, sizeof path);
  if (meant) pthread_mutex_lock(&mutex);
  int result = sync(file);
  if (meant && result == 0) remember('S', file, path, 0, 0);
  if (meant) pthread_mutex_unlock(&mutex);
  return result;
}

int fsync(int file) { return synced(file, real_fsync); }

int fdatasync(int file) { return synced(file, real_fdatasync); }
