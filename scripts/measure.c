/* Runs a command some times with its output thrown away and prints what it took:
 *   measure TIMES COMMAND…   →   "SECONDS<tab>PEAK_KIB": the shortest wall time, the largest resident set
 * of the command and what it ran. Fails when the command does. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The exit status; 128 and more for a signal or when nothing could be run. */
static int run(char **command)
{
	pid_t child = fork();
	if (child < 0)
		return 128;
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);
		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			_exit(128);
		execvp(command[0], command);
		perror(command[0]);
		_exit(128);
	}
	int status;
	if (waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
		return 128;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	int times = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
	if (times < 1) {
		fputs("usage: measure TIMES COMMAND...\n", stderr);
		return 2;
	}
	double best_s = 0;
	for (int i = 0; i < times; i++) {
		double start_s = now_s();
		int status = run(argv + 2);
		double took_s = now_s() - start_s;
		if (status != 0) {
			fprintf(stderr, "measure: '%s' failed with status %d\n", argv[2], status);
			return 1;
		}
		if (i == 0 || took_s < best_s)
			best_s = took_s;
	}
	struct rusage used;
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%.3f\t%ld\n", best_s, used.ru_maxrss);
	return 0;
}
