/* SPDX-License-Identifier: Apache-2.0 */
/* disk.h - system calls with a fault in them: this program's own open, read, write, fsync, rename,
 * close, mmap, fstat, mkdir, unlink, link and flock stand before the C library's.
 *
 *   disk_arm(DISK_WRITE, 3, ENOSPC, false);   the third write fails so (true: it and all after it)
 *   …
 *   size_t calls = disk_disarm();             how many writes there were */
#ifndef QN_TESTS_DISK_H
#define QN_TESTS_DISK_H

#include <stdbool.h>
#include <stddef.h>

typedef enum disk_call {
	DISK_OPEN,
	DISK_READ,
	DISK_WRITE,
	DISK_FSYNC,
	DISK_RENAME,
	DISK_CLOSE,
	DISK_MMAP,
	DISK_FSTAT,
	DISK_MKDIR,
	DISK_UNLINK,
	DISK_LINK,
	DISK_FLOCK,
	DISK_NCALL,
	DISK_ANY = DISK_NCALL /* all of them are counted */
} disk_call;

extern const char *const disk_names[DISK_NCALL];

/* In place of an error. */
enum {
	DISK_END = -1, /* the file ends here (read), one byte early (fstat) */
	DISK_KILL = -2 /* the process is killed before the call */
};

/* error 0: none fails, but each read or write does one byte (of up to 7 bytes) or half of what is
 * asked for. */
void disk_arm(disk_call call, size_t fail_at, int error, bool and_after);
size_t disk_disarm(void);
/* A file system without hard links: link fails always, whatever is armed. */
void disk_no_links(bool none);
/* Is called with the path before each unlink; NULL: nothing is. */
void disk_before_unlink(void (*look)(const char *path));

#endif
