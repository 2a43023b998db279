/* Loaded before the C library of a server under test: writes and fsyncs of its database fail while a file says so.
 *
 * FAULTS names a folder. A file `write` in it holds the errno that every write answers with, a file `fsync` that of
 * every fsync. Files whose path has no `materia.db` in it are left alone. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_database(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return strstr(path, "materia.db") != NULL;
}

/* The errno to fail with, 0 for none. */
static int fault(const char *kind, int fd) {
    char path[4096];
    int number = 0, saved = errno;
    const char *folder = getenv("FAULTS");
    if (folder == NULL || !is_database(fd)) {
        errno = saved;
        return 0;
    }
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%d", &number) != 1) number = 0;
        fclose(file);
    }
    errno = saved;
    return number;
}

#define FAIL_IF_TOLD(kind, fd)                                                                                         \
    do {                                                                                                               \
        int number = fault(kind, fd);                                                                                  \
        if (number != 0) {                                                                                             \
            errno = number;                                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
    } while (0)

ssize_t write(int fd, const void *bytes, size_t n) {
    static ssize_t (*real)(int, const void *, size_t);
    if (real == NULL) real = dlsym(RTLD_NEXT, "write");
    FAIL_IF_TOLD("write", fd);
    return real(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (real == NULL) real = dlsym(RTLD_NEXT, "pwrite");
    FAIL_IF_TOLD("write", fd);
    return real(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (real == NULL) real = dlsym(RTLD_NEXT, "pwrite64");
    FAIL_IF_TOLD("write", fd);
    return real(fd, bytes, n, at);
}

int fsync(int fd) {
    static int (*real)(int);
    if (real == NULL) real = dlsym(RTLD_NEXT, "fsync");
    FAIL_IF_TOLD("fsync", fd);
    return real(fd);
}

int fdatasync(int fd) {
    static int (*real)(int);
    if (real == NULL) real = dlsym(RTLD_NEXT, "fdatasync");
    FAIL_IF_TOLD("fsync", fd);
    return real(fd);
}
