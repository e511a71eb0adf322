/* SPDX-License-Identifier: Apache-2.0 */
/* count.c - a plugin of QEMU (TCG, API version 1) that counts executed guest instructions between
 * two markers, and how often each address was executed.
 *
 *   cc -O2 -shared -fPIC -o count.so count.c
 *   qemu-system-arm … -plugin ./count.so,begin=0x1234,end=0x1240,out=FILE
 *
 * FILE:  count N                    instructions from `begin` to `end`, for each time both were passed
 *        at ADDRESS N               executed N times in all of these windows together
 *
 * An instruction that an IT block skips counts, and so does each turn of a low-overhead loop's LE.
 * Instructions are not cycles (docs/performance.md).  Declarations of the API stand here because
 * Debian has no package with its header. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
typedef void on_block(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void on_instruction(unsigned cpu, void *user);
typedef void on_end(qemu_plugin_id_t, void *user);
enum { CB_NO_REGS = 0, INLINE_ADD_U64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_block *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, on_end *, void *user);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, on_instruction *, int flags,
					    void *user);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn *, int op, void *counter,
						uint64_t add);

OWN int qemu_plugin_version = 1;
OWN int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

enum { CELLS = 1 << 18 }; /* halfwords of 512 KiB of code, by their low bits */

/* An address and how often it was executed: in all, in the windows, outside of them.  Those with
 * equal low bits are chained. */
typedef struct cell {
	uint64_t address, count, inside, outside;
	struct cell *next;
} cell;

static struct {
	uint64_t begin, end;
	uint64_t total, at_begin;
	bool inside;
	FILE *out;
	cell *cell[CELLS];
} c;

static cell *
cell_of(uint64_t address)
{
	cell **at = &c.cell[(address >> 1) % CELLS];

	while (*at != NULL && (*at)->address != address)
		at = &(*at)->next;
	if (*at == NULL) {
		*at = calloc(1, sizeof **at);
		if (*at == NULL)
			abort();
		(*at)->address = address;
	}
	return *at;
}

static void
leave_out(void)
{
	for (size_t i = 0; i < CELLS; i++)
		for (cell *p = c.cell[i]; p != NULL; p = p->next)
			p->outside = p->count - p->inside;
}

static void
take_in(void)
{
	for (size_t i = 0; i < CELLS; i++)
		for (cell *p = c.cell[i]; p != NULL; p = p->next)
			p->inside = p->count - p->outside;
}

static void
at_begin(unsigned cpu, void *user)
{
	(void)cpu;
	(void)user;
	c.inside = true;
	c.at_begin = c.total;
	leave_out();
}

static void
at_end(unsigned cpu, void *user)
{
	(void)cpu;
	(void)user;
	if (!c.inside)
		return;
	c.inside = false;
	take_in();
	(void)fprintf(c.out, "count %" PRIu64 "\n", c.total - c.at_begin);
}

static void
translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		if (address == c.begin)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_begin, CB_NO_REGS, NULL);
		if (address == c.end)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_end, CB_NO_REGS, NULL);
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64, &c.total, 1);
		qemu_plugin_register_vcpu_insn_exec_inline(insn, INLINE_ADD_U64,
							   &cell_of(address)->count, 1);
	}
}

static void
finish(qemu_plugin_id_t id, void *user)
{
	(void)id;
	(void)user;
	for (size_t i = 0; i < CELLS; i++)
		for (const cell *p = c.cell[i]; p != NULL; p = p->next)
			if (p->inside > 0)
				(void)fprintf(c.out, "at %08" PRIx64 " %" PRIu64 "\n", p->address,
					      p->inside);
	if (fclose(c.out) != 0)
		abort();
}

OWN int
qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "begin=", 6) == 0)
			c.begin = strtoull(argv[i] + 6, NULL, 0) & ~UINT64_C(1);
		else if (strncmp(argv[i], "end=", 4) == 0)
			c.end = strtoull(argv[i] + 4, NULL, 0) & ~UINT64_C(1);
		else if (strncmp(argv[i], "out=", 4) == 0)
			c.out = fopen(argv[i] + 4, "w");
		else
			return -1;
	}
	if (c.begin == 0 || c.end == 0 || c.out == NULL)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}
