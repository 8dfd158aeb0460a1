#include "cmd/readahead.h"

#include <pthread.h>
#include <stdlib.h>

struct slot {
	struct input_result result;
	bool done;
};

struct readahead {
	const struct input *input;
	const char *const *names;
	struct slot *slots; /* by name */
	size_t n;
	pthread_t *threads;
	size_t threads_n; /* 0: names are read when they are taken */
	pthread_mutex_t lock; /* of what follows, and of done */
	pthread_cond_t changed;
	size_t next_read, next_take;
	bool stop;
};

/* Under the lock: whether there is a name to read now. */
static bool may_read(const struct readahead *ahead)
{
	return ahead->next_read < ahead->n && ahead->next_read < ahead->next_take + ahead->threads_n;
}

static void *work(void *context)
{
	struct readahead *ahead = context;
	pthread_mutex_lock(&ahead->lock);
	for (;;) {
		while (!ahead->stop && !may_read(ahead) && ahead->next_read < ahead->n)
			pthread_cond_wait(&ahead->changed, &ahead->lock);
		if (ahead->stop || ahead->next_read == ahead->n)
			break;
		size_t i = ahead->next_read++;
		pthread_mutex_unlock(&ahead->lock);
		input_read(ahead->input, ahead->names[i], &ahead->slots[i].result);
		pthread_mutex_lock(&ahead->lock);
		ahead->slots[i].done = true;
		pthread_cond_broadcast(&ahead->changed);
	}
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

/* As many as can be had; the work gets done by any number. */
static void start_threads(struct readahead *ahead, size_t want)
{
	pthread_mutex_lock(&ahead->lock);
	while (ahead->threads_n < want && pthread_create(&ahead->threads[ahead->threads_n], NULL, work, ahead) == 0)
		ahead->threads_n++;
	pthread_mutex_unlock(&ahead->lock);
}

struct readahead *readahead_new(const struct input *input, const char *const *names, size_t n, uint64_t threads)
{
	struct readahead *ahead = calloc(1, sizeof(*ahead));
	size_t want = threads < n ? (size_t)threads : n;

	if (!ahead || pthread_mutex_init(&ahead->lock, NULL) != 0 || pthread_cond_init(&ahead->changed, NULL) != 0) {
		cli_error("out of memory");
		free(ahead);
		return NULL;
	}
	ahead->input = input;
	ahead->names = names;
	ahead->n = n;
	ahead->slots = calloc(n + 1, sizeof(*ahead->slots));
	ahead->threads = calloc(want + 1, sizeof(*ahead->threads));
	if (!ahead->slots || !ahead->threads) {
		cli_error("out of memory");
		readahead_free(ahead);
		return NULL;
	}
	if (want > 1)
		start_threads(ahead, want);
	return ahead;
}

void readahead_free(struct readahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	for (size_t i = 0; i < ahead->threads_n; i++)
		pthread_join(ahead->threads[i], NULL);
	for (size_t i = 0; i < ahead->n && ahead->slots; i++)
		pp_profile_free(ahead->slots[i].result.profile);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead->threads);
	free(ahead->slots);
	free(ahead);
}

struct pp_profile *readahead_take(struct readahead *ahead, bool keep_all, struct pp_origin *origin,
                                  enum cli_status *status)
{
	size_t i = ahead->next_take;
	struct slot *slot = &ahead->slots[i];

	if (ahead->threads_n == 0) {
		input_read(ahead->input, ahead->names[i], &slot->result);
		ahead->next_take++;
	} else {
		pthread_mutex_lock(&ahead->lock);
		while (!slot->done)
			pthread_cond_wait(&ahead->changed, &ahead->lock);
		ahead->next_take++;
		pthread_cond_broadcast(&ahead->changed);
		pthread_mutex_unlock(&ahead->lock);
	}
	return input_take(ahead->input, ahead->names[i], keep_all, &slot->result, origin, status);
}
