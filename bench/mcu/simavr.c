/* SPDX-License-Identifier: Apache-2.0 */
/* simavr.c - runs a firmware of bench/mcu/start_avr.c on simavr's core, and counts cycles.
 *
 *   cc -O2 -o simavr-run bench/mcu/simavr.c -lsimavr
 *   simavr-run atmega2560 firmware.elf             what it prints, its exit status
 *   simavr-run --cycles atmega2560 firmware.elf    and "cycles 9876543, stack 210" of what it measures
 *   simavr-run --ram atmega2560 firmware.elf       with 64 KB of RAM, as memory on the external bus */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>
#include <simavr/sim_io.h>

/* Data addresses of the registers on the devices that have three of them. */
enum { GPIOR0 = 0x3e, GPIOR1 = 0x4a, GPIOR2 = 0x4b, SPL = 0x5d, SPH = 0x5e };

/* Two minutes of simavr on a slow host. */
static const avr_cycle_count_t most = 4000000000u;

typedef struct run {
	int status; /* -1: it has not ended */
	bool counting;
	avr_cycle_count_t begin, cycles;
	unsigned top, low,
		last; /* stack pointers: where counting began, the least, the one before */
} run;

static void
quiet(avr_t *avr, const int level, const char *format, va_list args)
{
	(void)avr;
	if (level <= LOG_ERROR)
		vfprintf(stderr, format, args);
}

static unsigned
stack_pointer(const avr_t *avr)
{
	return (unsigned)(avr->data[SPL] | avr->data[SPH] << 8);
}

static void
on_print(avr_t *avr, avr_io_addr_t at, uint8_t v, void *user)
{
	(void)avr, (void)at, (void)user;
	putchar(v);
}

static void
on_exit_status(avr_t *avr, avr_io_addr_t at, uint8_t v, void *user)
{
	(void)avr, (void)at;
	((run *)user)->status = v;
}

static void
on_measure(avr_t *avr, avr_io_addr_t at, uint8_t v, void *user)
{
	run *r = user;

	(void)at;
	r->counting = v != 0;
	if (v != 0) {
		r->begin = avr->cycle;
		r->top = r->low = r->last = stack_pointer(avr);
	} else {
		r->cycles = avr->cycle - r->begin;
	}
}

/* The two bytes of a stack pointer are written one after the other: one counts that stays. */
static void
look_at_stack(run *r, const avr_t *avr)
{
	const unsigned now = stack_pointer(avr);

	if (r->counting && now == r->last && now < r->low)
		r->low = now;
	r->last = now;
}

static avr_t *
start(const char *device, const char *path, bool ram, run *r)
{
	elf_firmware_t firmware;
	avr_t *avr = avr_make_mcu_by_name(device);

	memset(&firmware, 0, sizeof(firmware));
	if (avr == NULL || elf_read_firmware(path, &firmware) != 0) {
		fprintf(stderr, "%s: cannot be read, or unknown device %s\n", path, device);
		return NULL;
	}
	if (ram)
		avr->ramend = 0xffff;
	avr_init(avr);
	avr_load_firmware(avr, &firmware);
	avr_register_io_write(avr, GPIOR0, on_print, r);
	avr_register_io_write(avr, GPIOR1, on_exit_status, r);
	avr_register_io_write(avr, GPIOR2, on_measure, r);
	return avr;
}

int
main(int argc, char **argv)
{
	run r = {.status = -1};
	bool ram = false, cycles = false;
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		ram |= strcmp(argv[i], "--ram") == 0;
		cycles |= strcmp(argv[i], "--cycles") == 0;
	}
	if (argc - i != 2) {
		fprintf(stderr, "usage: simavr-run [--ram] [--cycles] DEVICE FIRMWARE\n");
		return 2;
	}
	avr_global_logger_set(quiet);
	avr_t *avr = start(argv[i], argv[i + 1], ram, &r);
	if (avr == NULL)
		return 2;
	while (r.status < 0) {
		int state = avr_run(avr);

		look_at_stack(&r, avr);
		if (state == cpu_Done || state == cpu_Crashed || avr->cycle > most) {
			fprintf(stderr, "%s: %s after %llu cycles\n", argv[i + 1],
				state == cpu_Crashed ? "crashed" : "has not ended",
				(unsigned long long)avr->cycle);
			return 3;
		}
	}
	if (cycles)
		printf("cycles %llu, stack %u\n", (unsigned long long)r.cycles, r.top - r.low);
	return fflush(stdout) == 0 ? r.status : 3;
}
