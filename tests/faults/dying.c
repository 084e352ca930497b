/* Kills its process right after, or in the middle of, the k-th change it makes to a
 * disk. Loaded before libc, it sees what Python, Rust and C++ do alike. Only what
 * happens while it watches counts; standard output and error do not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

static long last = -1, counted = 0;
static int watching = 0, midway = 0;

void dying_at(long operation, int halfway) { last = operation; midway = halfway; counted = 0; }
void dying_watch(int on) { watching = on; }
long dying_counted(void) { return counted; }

static int due(void) { return watching && ++counted == last; }
static void die(void) { kill(getpid(), SIGKILL); for (;;) pause(); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define AFTER(name, call) \
    do { \
        int now = due(); \
        __typeof__(name call) result = REAL(name) call; \
        if (now) die(); \
        return result; \
    } while (0)

ssize_t write(int file, const void *bytes, size_t count) {
    int now = file > 2 && due();
    ssize_t result = REAL(write)(file, bytes, now && midway ? count / 2 : count);
    if (now) die();
    return result;
}
int fsync(int file) { AFTER(fsync, (file)); }
int fdatasync(int file) { AFTER(fdatasync, (file)); }
int ftruncate64(int file, off64_t size) { AFTER(ftruncate64, (file, size)); }
int unlink(const char *path) { AFTER(unlink, (path)); }
int unlinkat(int folder, const char *path, int flags) { AFTER(unlinkat, (folder, path, flags)); }
int rmdir(const char *path) { AFTER(rmdir, (path)); }
int rename(const char *from, const char *to);
int rename(const char *from, const char *to) { AFTER(rename, (from, to)); }
int renameat(int one, const char *from, int other, const char *to);
int renameat(int one, const char *from, int other, const char *to) { AFTER(renameat, (one, from, other, to)); }
int mkdir(const char *path, mode_t mode);
int mkdir(const char *path, mode_t mode) { AFTER(mkdir, (path, mode)); }
