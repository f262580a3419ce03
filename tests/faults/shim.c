/* Faults for tests: numbers each call that changes files below a folder, and kills, fails or logs at one of them.
 *
 * Loaded by LD_PRELOAD, it does nothing until `faults_arm`; a process that is forked arms itself. From then on
 * calls are numbered from 1, under one lock, in the order in which they happen. What a mode does:
 *
 *   COUNT   nothing: `faults_disarm` returns how many there were
 *   KILL    SIGKILL before call n
 *   TORN    half of the bytes of call n, then SIGKILL; as KILL for calls without bytes
 *   FAIL    call n returns an error, once
 *   SHORT   call n writes half of its bytes, and the next write to the same file returns an error, once
 *   LOG     each call that succeeded is appended to a log with its bytes, after it was made
 *
 * The log is a row of records, in this machine's byte order: 7 numbers of 64 bits (kind, file, offset, result,
 * lengths of the first name, of the second, of the bytes), then the names and the bytes. A file is its inode.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, COUNT, KILL, TORN, FAIL, SHORT, LOG };
enum { NOTE, WRITE, TRUNCATE, SYNC, CREATE, RENAME, LINK, UNLINK, MKDIR, RMDIR, ALLOCATE };

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static volatile int mode = OFF;
static char folder[4096];
static size_t folder_len;
static long count, wanted;
static int error_wanted, report_fd = -1, log_fd = -1;
static ino_t short_file;

/* ---- The calls of the C library behind ours. */

#define REAL(result, name, ...)                                                   \
    static result (*real_##name)(__VA_ARGS__);                                    \
    static void *find_##name(void) {                                              \
        if (!real_##name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name);       \
        return *(void **)&real_##name;                                            \
    }
#define CALL(name) (find_##name(), real_##name)

REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)
REAL(int, ftruncate64, int, off64_t)
REAL(int, posix_fallocate64, int, off64_t, off64_t)
REAL(int, fallocate64, int, int, off64_t, off64_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, openat64, int, const char *, int, ...)
REAL(ssize_t, sendfile64, int, int, off64_t *, size_t)
REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned)

static void tell(int fd, const char *bytes, size_t len) {
    while (len) {
        long done = syscall(SYS_write, fd, bytes, len);
        if (done <= 0) return;
        bytes += done, len -= (size_t)done;
    }
}

/* ---- Which calls count. */

static int is_below(const char *path) {
    return !strncmp(path, folder, folder_len) && (path[folder_len] == '/' || !path[folder_len]);
}

/* Put the path of a descriptor into `out`; whether it is a file or a folder below ours. */
static int of_descriptor(int fd, char *out) {
    char link[64];
    if (mode == OFF) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, out, 4095);
    if (len < 0) return 0;
    out[len] = 0;
    return is_below(out);
}

/* Put the absolute path of a name into `out`, without following links of names; whether it is below ours. */
static int of_name(int at, const char *name, char *out) {
    if (mode == OFF || !name) return 0;
    if (name[0] == '/') {
        snprintf(out, 4096, "%s", name);
    } else {
        char base[4096];
        if (at == AT_FDCWD) {
            if (!getcwd(base, sizeof base)) return 0;
        } else if (!of_descriptor(at, base)) {
            return 0;
        }
        snprintf(out, 4096, "%.2000s/%.2000s", base, name);
    }
    return is_below(out);
}

static uint64_t inode_at(const char *path) {
    struct stat found;
    return lstat(path, &found) ? 0 : found.st_ino;
}

static uint64_t inode_of(int fd) {
    struct stat found;
    return fstat(fd, &found) ? 0 : found.st_ino;
}

/* ---- What happens at a call. */

enum verdict { GO, STOP, HALF };

static void say(const char *what, const char *name, const char *path, int64_t offset, size_t len) {
    char line[4400];
    const char *shown = is_below(path) ? path + folder_len : path;
    int n = snprintf(line, sizeof line, "%s %ld %s %s at %lld, %zu bytes\n", what, count, name,
                     *shown ? shown + 1 : ".", (long long)offset, len);
    tell(report_fd, line, (size_t)n);
}

static enum verdict arrive(const char *name, const char *path, uint64_t file, int64_t offset, size_t len) {
    int is_write = len > 0;
    if (mode == SHORT && short_file && is_write && short_file == file) {
        short_file = 0, mode = COUNT;
        errno = error_wanted;
        return STOP;
    }
    count++;
    if (count != wanted) return GO;
    if (mode == KILL || (mode == TORN && len < 2)) {
        say("killed", name, path, offset, len);
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
    }
    if (mode == TORN) return say("torn", name, path, offset, len), HALF;
    if (mode == FAIL || (mode == SHORT && len < 2)) {
        say("failed", name, path, offset, len);
        mode = COUNT;
        errno = error_wanted;
        return STOP;
    }
    if (mode == SHORT) return say("short", name, path, offset, len), short_file = file, HALF;
    return GO;
}

static void note(int kind, uint64_t file, int64_t offset, int64_t result, const char *first, const char *second,
                 const struct iovec *parts, int nparts) {
    if (mode != LOG) return;
    int64_t len = 0, left;
    for (int i = 0; i < nparts; i++) len += (int64_t)parts[i].iov_len;
    if (kind == WRITE && result < len) len = result;
    int64_t head[7] = {kind, (int64_t)file, offset, result, (int64_t)strlen(first), (int64_t)strlen(second), len};
    tell(log_fd, (const char *)head, sizeof head);
    tell(log_fd, first, strlen(first));
    tell(log_fd, second, strlen(second));
    left = len;
    for (int i = 0; i < nparts && left > 0; i++) {
        size_t some = (int64_t)parts[i].iov_len < left ? parts[i].iov_len : (size_t)left;
        tell(log_fd, parts[i].iov_base, some);
        left -= (int64_t)some;
    }
}

/* ---- For the test's own process. */

void faults_arm(const char *path, int how, long n, int error, int report, int log) {
    snprintf(folder, sizeof folder, "%s", path);
    folder_len = strlen(folder);
    count = 0, wanted = n, error_wanted = error, report_fd = report, log_fd = log, short_file = 0;
    mode = how;
}

long faults_disarm(void) {
    mode = OFF;
    return count;
}

/* Whether the call that was to fail has done so. */
int faults_are_over(void) { return mode == COUNT && wanted > 0; }

void faults_note(long number) {
    pthread_mutex_lock(&lock);
    note(NOTE, 0, number, 0, "", "", NULL, 0);
    pthread_mutex_unlock(&lock);
}

/* ---- Calls with bytes. All become `pwrite64`, so that half a write is one call. */

static ssize_t put_parts(int fd, const struct iovec *parts, int nparts, int64_t offset, int64_t bytes_max) {
    ssize_t done = 0;
    for (int i = 0; i < nparts && done < bytes_max; i++) {
        size_t len = parts[i].iov_len;
        if ((int64_t)len > bytes_max - done) len = (size_t)(bytes_max - done);
        ssize_t now = CALL(pwrite64)(fd, parts[i].iov_base, len, offset + done);
        if (now < 0) return done ? done : now;
        done += now;
        if ((size_t)now < len) break;
    }
    return done;
}

/* offset: where to, or -1 for where the descriptor stands, which then moves. */
static ssize_t write_parts(const char *name, const char *path, int fd, const struct iovec *parts, int nparts,
                           int64_t offset) {
    int64_t len = 0;
    for (int i = 0; i < nparts; i++) len += (int64_t)parts[i].iov_len;
    pthread_mutex_lock(&lock);
    int moves = offset < 0, flags = fcntl(fd, F_GETFL);
    if (moves) offset = lseek64(fd, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
    enum verdict verdict = arrive(name, path, inode_of(fd), offset, (size_t)len);
    ssize_t done = -1;
    if (verdict != STOP) done = put_parts(fd, parts, nparts, offset, verdict == HALF ? len / 2 : len);
    if (verdict == HALF && mode == TORN) {
        syscall(SYS_kill, getpid(), SIGKILL);
        for (;;) pause();
    }
    int error = errno;
    if (done >= 0) note(WRITE, inode_of(fd), offset, done, path, "", parts, nparts);
    if (moves && done > 0) lseek64(fd, offset + done, SEEK_SET);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

ssize_t write(int fd, const void *bytes, size_t len) {
    char path[4096];
    struct iovec part = {(void *)bytes, len};
    if (!of_descriptor(fd, path)) return syscall(SYS_write, fd, bytes, len);
    return write_parts("write", path, fd, &part, 1, -1);
}

ssize_t writev(int fd, const struct iovec *parts, int nparts) {
    char path[4096];
    if (!of_descriptor(fd, path)) return syscall(SYS_writev, fd, parts, nparts);
    return write_parts("writev", path, fd, parts, nparts, -1);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) {
    char path[4096];
    struct iovec part = {(void *)bytes, len};
    if (!of_descriptor(fd, path)) return CALL(pwrite64)(fd, bytes, len, offset);
    return write_parts("pwrite", path, fd, &part, 1, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t offset) { return pwrite64(fd, bytes, len, offset); }

ssize_t pwritev64(int fd, const struct iovec *parts, int nparts, off64_t offset) {
    char path[4096];
    if (!of_descriptor(fd, path)) return syscall(SYS_pwritev, fd, parts, (long)nparts, (long)offset, 0L);
    return write_parts("pwritev", path, fd, parts, nparts, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int nparts, off_t offset) {
    return pwritev64(fd, parts, nparts, offset);
}

ssize_t pwritev64v2(int fd, const struct iovec *parts, int nparts, off64_t offset, int flags) {
    char path[4096];
    if (!of_descriptor(fd, path)) return syscall(SYS_pwritev2, fd, parts, (long)nparts, (long)offset, 0L, flags);
    return write_parts("pwritev2", path, fd, parts, nparts, offset);
}

ssize_t pwritev2(int fd, const struct iovec *parts, int nparts, off_t offset, int flags) {
    return pwritev64v2(fd, parts, nparts, offset, flags);
}

/* Whoever copies by the kernel falls back to reading and writing. */
ssize_t sendfile64(int out, int in, off64_t *offset, size_t len) {
    char path[4096];
    if (of_descriptor(out, path)) return errno = EINVAL, -1;
    return CALL(sendfile64)(out, in, offset, len);
}

ssize_t sendfile(int out, int in, off_t *offset, size_t len) { return sendfile64(out, in, offset, len); }

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t len, unsigned flags) {
    char path[4096];
    if (of_descriptor(out, path)) return errno = EXDEV, -1;
    return CALL(copy_file_range)(in, from, out, to, len, flags);
}

/* ---- Calls without bytes. `work` is the call itself. */

#define AROUND(name, path, file, offset, work, kind, first, second)            \
    do {                                                                       \
        pthread_mutex_lock(&lock);                                             \
        long done = -1;                                                        \
        if (arrive(name, path, file, offset, 0) == GO) done = (work);          \
        int error = errno;                                                     \
        if (done >= 0) note(kind, file, offset, done, first, second, NULL, 0); \
        pthread_mutex_unlock(&lock);                                           \
        errno = error;                                                         \
        return (int)done;                                                      \
    } while (0)

int ftruncate64(int fd, off64_t len) {
    char path[4096];
    if (!of_descriptor(fd, path)) return CALL(ftruncate64)(fd, len);
    AROUND("ftruncate", path, inode_of(fd), len, CALL(ftruncate64)(fd, len), TRUNCATE, path, "");
}

int ftruncate(int fd, off_t len) { return ftruncate64(fd, len); }

int truncate64(const char *name, off64_t len) {
    char path[4096];
    if (!of_name(AT_FDCWD, name, path)) return (int)syscall(SYS_truncate, name, len);
    AROUND("truncate", path, inode_at(path), len, syscall(SYS_truncate, name, len), TRUNCATE, path, "");
}

int truncate(const char *name, off_t len) { return truncate64(name, len); }

/* What is allocated reads as zeros, and may make the file longer. `KEEP_SIZE` and holes change no byte we need. */
int fallocate64(int fd, int how, off64_t offset, off64_t len) {
    char path[4096];
    if (!of_descriptor(fd, path)) return CALL(fallocate64)(fd, how, offset, len);
    AROUND("fallocate", path, inode_of(fd), how & FALLOC_FL_KEEP_SIZE ? 0 : offset + len,
           CALL(fallocate64)(fd, how, offset, len), ALLOCATE, path, "");
}

int fallocate(int fd, int how, off_t offset, off_t len) { return fallocate64(fd, how, offset, len); }

int posix_fallocate64(int fd, off64_t offset, off64_t len) {
    char path[4096];
    if (!of_descriptor(fd, path)) return CALL(posix_fallocate64)(fd, offset, len);
    /* This one returns the number of the error. */
    return fallocate64(fd, 0, offset, len) ? errno : 0;
}

int posix_fallocate(int fd, off_t offset, off_t len) { return posix_fallocate64(fd, offset, len); }

int fsync(int fd) {
    char path[4096];
    if (!of_descriptor(fd, path)) return CALL(fsync)(fd);
    AROUND("fsync", path, inode_of(fd), 0, CALL(fsync)(fd), SYNC, path, "");
}

int fdatasync(int fd) {
    char path[4096];
    if (!of_descriptor(fd, path)) return CALL(fdatasync)(fd);
    AROUND("fdatasync", path, inode_of(fd), 0, CALL(fdatasync)(fd), SYNC, path, "");
}

int renameat2(int at, const char *old, int beside, const char *new, unsigned flags) {
    char from[4096], to[4096];
    int is_ours = of_name(at, old, from);
    is_ours = of_name(beside, new, to) || is_ours;
    if (!is_ours) return (int)syscall(SYS_renameat2, at, old, beside, new, flags);
    AROUND("rename", from, inode_at(from), flags, syscall(SYS_renameat2, at, old, beside, new, flags), RENAME, from,
           to);
}

int renameat(int at, const char *old, int beside, const char *new) { return renameat2(at, old, beside, new, 0); }

int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

int linkat(int at, const char *old, int beside, const char *new, int flags) {
    char from[4096], to[4096];
    int is_ours = of_name(beside, new, to);
    is_ours = of_name(at, old, from) || is_ours;
    if (!is_ours) return (int)syscall(SYS_linkat, at, old, beside, new, flags);
    AROUND("link", from, inode_at(from), 0, syscall(SYS_linkat, at, old, beside, new, flags), LINK, from, to);
}

int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int at, const char *name, int flags) {
    char path[4096];
    if (!of_name(at, name, path)) return (int)syscall(SYS_unlinkat, at, name, flags);
    int is_folder = flags & AT_REMOVEDIR;
    AROUND(is_folder ? "rmdir" : "unlink", path, inode_at(path), 0, syscall(SYS_unlinkat, at, name, flags),
           is_folder ? RMDIR : UNLINK, path, "");
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int remove(const char *name) {
    struct stat found;
    return unlinkat(AT_FDCWD, name, !lstat(name, &found) && S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0);
}

int mkdirat(int at, const char *name, mode_t rights) {
    char path[4096];
    if (!of_name(at, name, path)) return (int)syscall(SYS_mkdirat, at, name, rights);
    AROUND("mkdir", path, 0, 0, syscall(SYS_mkdirat, at, name, rights), MKDIR, path, "");
}

int mkdir(const char *name, mode_t rights) { return mkdirat(AT_FDCWD, name, rights); }

/* Opening counts where it makes a file, or empties one. */
static int open_at(int at, const char *name, int flags, mode_t rights) {
    char path[4096];
    struct stat found;
    if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE || !of_name(at, name, path))
        return CALL(openat64)(at, name, flags, rights);
    int is_there = !lstat(path, &found);
    if (is_there && S_ISLNK(found.st_mode)) is_there = !stat(path, &found);
    int makes = !is_there && flags & O_CREAT, empties = is_there && flags & O_TRUNC && found.st_size > 0;
    if (!makes && !empties) return CALL(openat64)(at, name, flags, rights);
    pthread_mutex_lock(&lock);
    int fd = -1;
    if (arrive(makes ? "create" : "empty", path, makes ? 0 : found.st_ino, 0, 0) == GO)
        fd = CALL(openat64)(at, name, flags, rights);
    int error = errno;
    if (fd >= 0) note(makes ? CREATE : TRUNCATE, inode_of(fd), 0, fd, path, "", NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define OPEN_WITH_RIGHTS(at, name, flags)                        \
    do {                                                         \
        mode_t rights = 0;                                       \
        if (flags & (O_CREAT | O_TMPFILE)) {                     \
            va_list more;                                        \
            va_start(more, flags);                               \
            rights = va_arg(more, mode_t);                       \
            va_end(more);                                        \
        }                                                        \
        return open_at(at, name, flags, rights);                 \
    } while (0)

int open(const char *name, int flags, ...) { OPEN_WITH_RIGHTS(AT_FDCWD, name, flags); }
int open64(const char *name, int flags, ...) { OPEN_WITH_RIGHTS(AT_FDCWD, name, flags); }
int openat(int at, const char *name, int flags, ...) { OPEN_WITH_RIGHTS(at, name, flags); }
int openat64(int at, const char *name, int flags, ...) { OPEN_WITH_RIGHTS(at, name, flags); }
int creat(const char *name, mode_t rights) {
    return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, rights);
}
int creat64(const char *name, mode_t rights) { return creat(name, rights); }
