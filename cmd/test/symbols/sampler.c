/* Linked into a program of the tests, samples it: writes what Go calls a threadcreate profile, which needs no more
 * than stacks of addresses and the memory map, to $SAMPLES. */
#define _GNU_SOURCE
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define STACKS 1000
#define DEPTH 64

static struct {
	void *frames[DEPTH];
	int n;
} stacks[STACKS];
static volatile sig_atomic_t stacks_n;

static void sample(int signal)
{
	(void)signal;
	if (stacks_n >= STACKS)
		return;
	stacks[stacks_n].n = backtrace(stacks[stacks_n].frames, DEPTH);
	stacks_n++;
}

static void set_timer(int microseconds)
{
	const struct itimerval every = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_PROF, &every, NULL);
}

/* The first two frames are the handler and what calls it. The third is where the program was: no call, so it gets
 * the 1 that readers take off all addresses of such a profile. */
static void write_samples(FILE *out)
{
	fprintf(out, "threadcreate profile: total %d\n", (int)stacks_n);
	for (int s = 0; s < stacks_n; s++) {
		fprintf(out, "1 @");
		for (int i = 2; i < stacks[s].n; i++)
			fprintf(out, " %#llx", (unsigned long long)stacks[s].frames[i] + (i == 2));
		fprintf(out, "\n");
	}
}

static void copy_map(FILE *out)
{
	FILE *map = fopen("/proc/self/maps", "r");
	int c;

	fprintf(out, "\n--- Memory map: ---\n");
	while (map && (c = getc(map)) != EOF)
		putc(c, out);
	if (map)
		fclose(map);
}

__attribute__((constructor)) static void begin(void)
{
	void *first[1];

	backtrace(first, 1); /* loads what it needs, which a handler must not */
	signal(SIGPROF, sample);
	set_timer(1000);
}

__attribute__((destructor)) static void end(void)
{
	FILE *out;

	set_timer(0);
	out = getenv("SAMPLES") ? fopen(getenv("SAMPLES"), "w") : NULL;
	if (!out)
		return;
	write_samples(out);
	copy_map(out);
	fclose(out);
}
