/* SPDX-License-Identifier: Apache-2.0 */
/* disk.c - see disk.h.  A call that fails does nothing, but close: it closes, as Linux does. */
#define _GNU_SOURCE /* syscall */

#include "tests/robust/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *const disk_names[DISK_NCALL] = {"open", "read",  "write", "fsync",  "rename", "close",
					    "mmap", "fstat", "mkdir", "unlink", "link",   "flock"};

static struct {
	bool armed, and_after, no_links;
	void (*before_unlink)(const char *path);
	disk_call call;
	size_t calls, fail_at;
	int error;
} disk;

static bool
fails(disk_call call)
{
	if (!disk.armed || (call != disk.call && disk.call != DISK_ANY))
		return false;
	disk.calls++;
	if (disk.error == DISK_KILL && disk.calls == disk.fail_at)
		(void)syscall(SYS_kill, getpid(), SIGKILL);
	if (disk.error == DISK_KILL)
		return false;
	if (disk.error == 0 || disk.calls < disk.fail_at ||
	    (disk.calls > disk.fail_at && !disk.and_after))
		return false;
	errno = disk.error;
	return true;
}

#define OWN __attribute__((visibility("default")))

OWN int
open(const char *path, int flags, ...)
{
	va_list args;

	va_start(args, flags);
	int mode = (flags & O_CREAT) != 0 ? va_arg(args, int) : 0;
	va_end(args);
	return fails(DISK_OPEN) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* How much of n bytes the call does. */
static size_t
part_of(disk_call call, size_t n)
{
	if (!disk.armed || disk.call != call || disk.error != 0 || n < 2)
		return n;
	return n < 8 ? 1 : n / 2;
}

OWN ssize_t
read(int fd, void *data, size_t n)
{
	if (fd > 2 && fails(DISK_READ))
		return disk.error == DISK_END ? 0 : -1;
	return syscall(SYS_read, fd, data, part_of(DISK_READ, n));
}

OWN ssize_t
write(int fd, const void *data, size_t n)
{
	if (fd > 2 && fails(DISK_WRITE))
		return -1;
	return syscall(SYS_write, fd, data, part_of(DISK_WRITE, n));
}

OWN int
fsync(int fd)
{
	return fails(DISK_FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

OWN int
rename(const char *from, const char *to)
{
	return fails(DISK_RENAME) ? -1
				  : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

OWN int
close(int fd)
{
	bool bad = fails(DISK_CLOSE);
	int error = errno;
	int r = (int)syscall(SYS_close, fd);

	if (!bad)
		return r;
	errno = error;
	return -1;
}

OWN void *
mmap(void *p, size_t n, int protection, int flags, int fd, off_t at)
{
	if (fd >= 0 && fails(DISK_MMAP))
		return MAP_FAILED;
#ifdef __s390x__ /* the call has one argument there */
	const unsigned long all[] = {(unsigned long)p,          n,
				     (unsigned long)protection, (unsigned long)flags,
				     (unsigned long)fd,         (unsigned long)at};

	return (void *)syscall(SYS_mmap, all);
#else
	return (void *)syscall(SYS_mmap, p, n, protection, flags, fd, at);
#endif
}

OWN int
fstat(int fd, struct stat *out)
{
	bool bad = fails(DISK_FSTAT);

	if (bad && disk.error != DISK_END)
		return -1;
	int r = fstatat(fd, "", out, AT_EMPTY_PATH);
	out->st_size -= bad;
	return r;
}

OWN int
mkdir(const char *path, mode_t mode)
{
	return fails(DISK_MKDIR) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

OWN int
unlink(const char *path)
{
	if (disk.before_unlink != NULL)
		disk.before_unlink(path);
	return fails(DISK_UNLINK) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

OWN int
link(const char *from, const char *to)
{
	if (disk.no_links) {
		errno = EPERM;
		return -1;
	}
	return fails(DISK_LINK) ? -1 : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

OWN int
flock(int fd, int operation)
{
	return fails(DISK_FLOCK) ? -1 : (int)syscall(SYS_flock, fd, operation);
}

void
disk_no_links(bool none)
{
	disk.no_links = none;
}

void
disk_before_unlink(void (*look)(const char *path))
{
	disk.before_unlink = look;
}

void
disk_arm(disk_call call, size_t fail_at, int error, bool and_after)
{
	disk.armed = true;
	disk.call = call;
	disk.calls = 0;
	disk.fail_at = fail_at;
	disk.error = error;
	disk.and_after = and_after;
}

size_t
disk_disarm(void)
{
	disk.armed = false;
	return disk.calls;
}
