#include "cmd/fetch/http.h"

#include <curl/curl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "cmd/cli.h"

#define CONNECT_TIMEOUT_S 15L
#define RETRIES_MAX 3u
#define RETRY_FIRST_MS 250 /* doubled each time */
#define RETRY_AFTER_MAX_S 60 /* a server that asks for more has to be asked later */
#define REDIRECTS_MAX 3u
#define PACK_FROM_BYTES 1024 /* shorter questions do not shrink */

struct http_pool {
	struct http_settings settings;
	CURLM *multi;
	struct http_job *waiting, **waiting_end; /* in the order of starting */
	uint32_t running;
};

/* One try of an exchange. */
struct http_job {
	struct http_pool *pool;
	struct http_exchange *exchange;
	struct http_job *next;
	CURL *easy;
	struct curl_slist *headers;
	char *url;             /* after redirects; NULL: the exchange's */
	uint32_t redirects;
	int64_t not_before_ms; /* of the monotonic clock */
	struct pp_buf packed_question, received;
	bool answer_is_gzip, unknown_encoding;
	char encoding[40], why[CURL_ERROR_SIZE];
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- addresses ---- */

static char *part_of(CURLU *url, CURLUPart part, unsigned flags)
{
	char *text = NULL, *copy = NULL;

	if (curl_url_get(url, part, &text, flags) == CURLUE_OK && text)
		copy = strdup(text);
	curl_free(text);
	return copy;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
	char *x = part_of(a, part, CURLU_DEFAULT_PORT), *y = part_of(b, part, CURLU_DEFAULT_PORT);
	bool same = x && y && strcasecmp(x, y) == 0;

	free(x);
	free(y);
	return same;
}

static bool same_origin(const char *a, const char *b)
{
	CURLU *x = curl_url(), *y = curl_url();
	bool same = x && y && curl_url_set(x, CURLUPART_URL, a, 0) == CURLUE_OK &&
	            curl_url_set(y, CURLUPART_URL, b, 0) == CURLUE_OK && same_part(x, y, CURLUPART_SCHEME) &&
	            same_part(x, y, CURLUPART_HOST) && same_part(x, y, CURLUPART_PORT);

	curl_url_cleanup(x);
	curl_url_cleanup(y);
	return same;
}

int http_address_parse(const char *text, struct http_address *address, struct pp_error *err)
{
	CURLU *url = curl_url();
	char *scheme = NULL;
	int result = -1;

	*address = (struct http_address){NULL, NULL, NULL};
	if (!url) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		goto done;
	}
	if (curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK || !(scheme = part_of(url, CURLUPART_SCHEME, 0)) ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)) {
		pp_fail(err, PP_EUSAGE, PP_NO_OFFSET, "not an address of the form http://HOST[:PORT][/PATH]");
		goto done;
	}
	address->user = part_of(url, CURLUPART_USER, CURLU_URLDECODE);
	address->password = part_of(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
	curl_url_set(url, CURLUPART_USER, NULL, 0);
	curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
	curl_url_set(url, CURLUPART_QUERY, NULL, 0);
	curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
	address->base = part_of(url, CURLUPART_URL, 0);
	if (!address->base) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		goto done;
	}
	for (size_t n = strlen(address->base); n > 0 && address->base[n - 1] == '/'; n--)
		address->base[n - 1] = '\0';
	result = 0;
done:
	free(scheme);
	curl_url_cleanup(url);
	if (result != 0)
		http_address_release(address);
	return result;
}

void http_address_release(struct http_address *address)
{
	free(address->base);
	free(address->user);
	free(address->password);
	*address = (struct http_address){NULL, NULL, NULL};
}

/* ---- one try ---- */

static const char *url_of(const struct http_job *job)
{
	return job->url ? job->url : job->exchange->url;
}

static size_t receive(char *bytes, size_t one, size_t n, void *context)
{
	struct http_job *job = context;

	if (job->received.n + n * one > job->pool->settings.max_bytes) {
		pp_fail(&job->exchange->err, PP_ELIMIT, PP_NO_OFFSET,
		        "the answer is longer than %" PRIu64 " bytes (--max-answer)", job->pool->settings.max_bytes);
		return 0;
	}
	return pp_buf_append(&job->received, bytes, n * one, &job->exchange->err) == 0 ? n * one : 0;
}

/* The value of header `name` if the line is that header. */
static bool header_is(const char *line, size_t n, const char *name, char *value, size_t value_n)
{
	size_t length = strlen(name);

	if (n <= length || strncasecmp(line, name, length) != 0 || line[length] != ':')
		return false;
	line += length + 1;
	n -= length + 1;
	size_t kept = 0;
	for (; n > 0 && (*line == ' ' || *line == '\t'); n--)
		line++;
	for (; n > 0 && kept < value_n - 1 && *line > ' ' && *line != ';'; n--) {
		char c = *line++;
		value[kept++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	value[kept] = '\0';
	return true;
}

static size_t receive_header(char *line, size_t one, size_t n, void *context)
{
	struct http_job *job = context;
	size_t length = n * one;

	if (length > 5 && strncmp(line, "HTTP/", 5) == 0) { /* a further head, after 100 or of a proxy */
		job->exchange->answer_type[0] = job->encoding[0] = '\0';
		job->received.n = 0;
	}
	header_is(line, length, "content-type", job->exchange->answer_type, sizeof(job->exchange->answer_type));
	header_is(line, length, "content-encoding", job->encoding, sizeof(job->encoding));
	return length;
}

static void add_header(struct http_job *job, const char *name, const char *value)
{
	struct pp_buf line = PP_BUF_INIT;
	struct pp_sink sink = pp_buf_sink(&line);
	struct pp_error *err = &job->exchange->err;
	struct curl_slist *longer = NULL;

	if (pp_sink_str(&sink, name, err) == 0 && pp_sink_str(&sink, ": ", err) == 0 &&
	    pp_sink_str(&sink, value, err) == 0)
		longer = curl_slist_append(job->headers, line.bytes);
	if (longer)
		job->headers = longer;
	else
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
	if (line.bytes)
		memset(line.bytes, 0, line.n); /* it may hold a credential */
	pp_buf_release(&line);
}

static void set_credentials(struct http_job *job)
{
	const struct http_settings *s = &job->pool->settings;

	if (!s->origin || !same_origin(s->origin, url_of(job)))
		return;
	if (s->token) {
		struct pp_buf bearer = PP_BUF_INIT;
		if (pp_buf_append(&bearer, "Bearer ", 7, &job->exchange->err) == 0 &&
		    pp_buf_append(&bearer, s->token, strlen(s->token), &job->exchange->err) == 0)
			add_header(job, "Authorization", bearer.bytes);
		pp_buf_release(&bearer);
	} else if (s->user) {
		curl_easy_setopt(job->easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		curl_easy_setopt(job->easy, CURLOPT_USERNAME, s->user);
		curl_easy_setopt(job->easy, CURLOPT_PASSWORD, s->password ? s->password : "");
	} else if (s->netrc) {
		curl_easy_setopt(job->easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		curl_easy_setopt(job->easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		if (s->netrc_file)
			curl_easy_setopt(job->easy, CURLOPT_NETRC_FILE, s->netrc_file);
	}
	if (s->tenant)
		add_header(job, "X-Scope-OrgID", s->tenant);
	if (s->cert_file)
		curl_easy_setopt(job->easy, CURLOPT_SSLCERT, s->cert_file);
	if (s->key_file)
		curl_easy_setopt(job->easy, CURLOPT_SSLKEY, s->key_file);
}

static int pack(struct pp_str body, struct pp_buf *packed, struct pp_error *err)
{
	struct pp_sink out = pp_buf_sink(packed);
	struct pp_gz_writer *writer = pp_gz_writer_new(&out, 6, err);
	if (!writer)
		return -1;
	struct pp_sink in = pp_gz_writer_sink(writer);
	int result = pp_sink_bytes(&in, body.ptr, body.len, err);
	if (result == 0)
		result = pp_gz_writer_finish(writer, err);
	pp_gz_writer_free(writer);
	return result;
}

static void set_question(struct http_job *job)
{
	struct http_exchange *exchange = job->exchange;
	struct pp_str body = exchange->body;

	if (!exchange->post)
		return;
	if (body.len >= PACK_FROM_BYTES) {
		if (job->packed_question.n == 0 && pack(body, &job->packed_question, &exchange->err) != 0)
			return;
		body = (struct pp_str){job->packed_question.bytes, job->packed_question.n};
		add_header(job, "Content-Encoding", "gzip");
	}
	add_header(job, "Content-Type", exchange->content_type);
	add_header(job, "Expect", "");
	curl_easy_setopt(job->easy, CURLOPT_POST, 1L);
	curl_easy_setopt(job->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
	curl_easy_setopt(job->easy, CURLOPT_POSTFIELDS, body.len ? body.ptr : "");
}

static void begin(struct http_job *job)
{
	const struct http_settings *s = &job->pool->settings;

	job->easy = curl_easy_init();
	if (!job->easy) {
		pp_fail(&job->exchange->err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		return;
	}
	job->received.n = 0;
	job->why[0] = job->encoding[0] = job->exchange->answer_type[0] = '\0';
	curl_easy_setopt(job->easy, CURLOPT_PRIVATE, job);
	curl_easy_setopt(job->easy, CURLOPT_ERRORBUFFER, job->why);
	curl_easy_setopt(job->easy, CURLOPT_URL, url_of(job));
	curl_easy_setopt(job->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(job->easy, CURLOPT_USERAGENT, "pprof-fetch/" VERSION);
	curl_easy_setopt(job->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	curl_easy_setopt(job->easy, CURLOPT_TIMEOUT, (long)s->timeout_s);
	curl_easy_setopt(job->easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(job->easy, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(job->easy, CURLOPT_WRITEDATA, job);
	curl_easy_setopt(job->easy, CURLOPT_HEADERFUNCTION, receive_header);
	curl_easy_setopt(job->easy, CURLOPT_HEADERDATA, job);
	if (s->ca_file)
		curl_easy_setopt(job->easy, CURLOPT_CAINFO, s->ca_file);
	add_header(job, "Accept", "*/*;allow-utf8-labelnames=true"); /* else some label names are left out */
	add_header(job, "Accept-Encoding", "gzip"); /* unpacked here, where the limits are */
	set_credentials(job);
	set_question(job);
	curl_easy_setopt(job->easy, CURLOPT_HTTPHEADER, job->headers);
	if (s->verbose)
		cli_error("> %s %s%s%s (%zu bytes)", job->exchange->post ? "POST" : "GET", url_of(job),
		          job->exchange->post ? " " : "", job->exchange->post ? job->exchange->content_type : "",
		          job->exchange->body.len);
	if (job->exchange->err.code == PP_OK && curl_multi_add_handle(job->pool->multi, job->easy) != CURLM_OK)
		pp_fail(&job->exchange->err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
}

static void end_try(struct http_job *job)
{
	if (job->easy) {
		curl_multi_remove_handle(job->pool->multi, job->easy);
		curl_easy_cleanup(job->easy);
	}
	curl_slist_free_all(job->headers);
	job->easy = NULL;
	job->headers = NULL;
}

/* ---- what came back ---- */

static int unpack(struct http_job *job)
{
	struct http_exchange *exchange = job->exchange;
	struct pp_limits limits = PP_LIMITS_DEFAULT;
	struct pp_memory_source memory;
	struct pp_gz_summary summary;
	char chunk[16384];
	int64_t n;

	exchange->answer.n = 0;
	if (!job->encoding[0] || strcmp(job->encoding, "identity") == 0) {
		pp_buf_release(&exchange->answer);
		exchange->answer = job->received;
		job->received = (struct pp_buf)PP_BUF_INIT;
		return 0;
	}
	if (strcmp(job->encoding, "gzip") != 0)
		return pp_fail(&exchange->err, PP_EFORMAT, PP_NO_OFFSET, "the answer has encoding '%s', which was not asked for", job->encoding);
	limits.packed_bytes = limits.raw_bytes = job->pool->settings.max_bytes;
	pp_memory_source_init(&memory, job->received.bytes, job->received.n);
	struct pp_gz_reader *reader = pp_gz_reader_new(&memory.source, &limits, false, &exchange->err);
	if (!reader)
		return -1;
	struct pp_source source = pp_gz_reader_source(reader);
	while ((n = source.read(source.context, chunk, sizeof(chunk), &exchange->err)) > 0)
		if (pp_buf_append(&exchange->answer, chunk, (size_t)n, &exchange->err) != 0)
			break;
	pp_gz_reader_summary(reader, &summary);
	pp_gz_reader_free(reader);
	if (n == 0 && (!summary.gzip || summary.trailing_offset != PP_NO_OFFSET))
		return pp_fail(&exchange->err, PP_EFORMAT, PP_NO_OFFSET, "the answer says that it is gzip and is not");
	return n == 0 ? 0 : -1;
}

/* A server may show in an error what it was sent. */
static void hide(struct pp_buf *answer, const char *secret)
{
	size_t n = secret ? strlen(secret) : 0;

	for (size_t i = 0; n > 0 && i + n <= answer->n; i++)
		if (memcmp(answer->bytes + i, secret, n) == 0)
			memset(answer->bytes + i, '*', n);
}

static bool may_try_again(CURLcode code, int status)
{
	switch (code) {
	case CURLE_OK:
		return status == 429 || (status >= 502 && status <= 504);
	case CURLE_COULDNT_CONNECT:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_PARTIAL_FILE:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return true;
	default:
		return false;
	}
}

static void explain(struct http_job *job, CURLcode code)
{
	struct pp_error *err = &job->exchange->err;
	const char *why = job->why[0] ? job->why : curl_easy_strerror(code);
	uint32_t tries = job->exchange->retries + 1;

	if (code == CURLE_OPERATION_TIMEDOUT)
		pp_fail(err, PP_EIO, PP_NO_OFFSET, "no complete answer within %" PRIu64 " s (--timeout); what the server would have said is not known",
		        job->pool->settings.timeout_s);
	else if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY)
		pp_fail(err, PP_EIO, PP_NO_OFFSET, "cannot connect: %s", why);
	else if (may_try_again(code, 0))
		pp_fail(err, PP_EIO, PP_NO_OFFSET, "the connection broke before the answer was complete, %u time%s: %s; what the server would have said is not known",
		        tries, tries == 1 ? "" : "s", why);
	else
		pp_fail(err, PP_EIO, PP_NO_OFFSET, "%s", why);
}

/* Puts the job back into the queue. */
static void enqueue(struct http_job *job)
{
	job->next = NULL;
	*job->pool->waiting_end = job;
	job->pool->waiting_end = &job->next;
}

/* Whether the answer is a redirection that was followed, or that is an error. 307 and 308 keep the question as it
 * is; the others turn it into a GET, which a POST must not become. */
static bool redirected(struct http_job *job)
{
	struct http_exchange *exchange = job->exchange;
	int status = exchange->status;
	char *target = NULL;

	if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308)
		return false;
	curl_easy_getinfo(job->easy, CURLINFO_REDIRECT_URL, &target);
	struct http_address shown = {NULL, NULL, NULL};
	struct pp_error ignored = PP_ERROR_INIT;
	char *next = target ? strdup(target) : NULL;
	if (!next || http_address_parse(next, &shown, &ignored) != 0) {
		pp_fail(&exchange->err, PP_EIO, PP_NO_OFFSET, "the server redirects (HTTP %d) to nowhere", status);
	} else if (exchange->post && status < 307) {
		pp_fail(&exchange->err, PP_EIO, PP_NO_OFFSET, "the server redirects (HTTP %d) to '%s', which would lose the question; is the address right?",
		        status, shown.base);
	} else if (job->redirects++ >= REDIRECTS_MAX) {
		pp_fail(&exchange->err, PP_EIO, PP_NO_OFFSET, "more than %u redirections", REDIRECTS_MAX);
	} else {
		free(job->url);
		job->url = next;
		next = NULL;
	}
	http_address_release(&shown);
	free(next);
	return true;
}

static void finish(struct http_job *job)
{
	struct http_exchange *exchange = job->exchange;

	end_try(job);
	pp_buf_release(&job->received);
	pp_buf_release(&job->packed_question);
	free(job->url);
	free(job);
	exchange->job = NULL;
	if (exchange->done)
		exchange->done(exchange);
}

static void try_again(struct http_job *job, int64_t wait_ms)
{
	end_try(job);
	job->not_before_ms = now_ms() + wait_ms;
	enqueue(job);
}

static void completed(struct http_job *job, CURLcode code)
{
	struct http_exchange *exchange = job->exchange;
	long status = 0;
	curl_off_t wait_s = 0;

	curl_easy_getinfo(job->easy, CURLINFO_RESPONSE_CODE, &status);
	exchange->status = (int)status;
	if (job->pool->settings.verbose)
		cli_error("< %ld %s (%zu bytes)%s%s", status, exchange->answer_type, job->received.n,
		          code ? ": " : "", code ? curl_easy_strerror(code) : "");
	if (exchange->err.code != PP_OK) {
		finish(job);
		return;
	}
	if (may_try_again(code, (int)status) && exchange->retries < RETRIES_MAX) {
		curl_easy_getinfo(job->easy, CURLINFO_RETRY_AFTER, &wait_s);
		if (wait_s <= RETRY_AFTER_MAX_S) {
			int64_t wait_ms = wait_s > 0 ? (int64_t)wait_s * 1000 : (int64_t)RETRY_FIRST_MS << exchange->retries;
			exchange->retries++;
			try_again(job, wait_ms);
			return;
		}
	}
	if (code != CURLE_OK) {
		explain(job, code);
	} else if (redirected(job)) {
		if (exchange->err.code == PP_OK) {
			try_again(job, 0);
			return;
		}
	} else {
		if (unpack(job) == 0 && status != 200) {
			hide(&exchange->answer, job->pool->settings.token);
			hide(&exchange->answer, job->pool->settings.password);
		}
	}
	finish(job);
}

/* ---- the pool ---- */

struct http_pool *http_pool_new(const struct http_settings *settings, struct pp_error *err)
{
	struct http_pool *pool = calloc(1, sizeof(*pool));

	if (!pool || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(pool->multi = curl_multi_init())) {
		pp_fail(err, PP_ENOMEM, PP_NO_OFFSET, "cannot start the HTTP client");
		free(pool);
		return NULL;
	}
	pool->settings = *settings;
	pool->waiting_end = &pool->waiting;
	curl_multi_setopt(pool->multi, CURLMOPT_MAXCONNECTS, (long)settings->parallel);
	curl_multi_setopt(pool->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)settings->parallel);
	return pool;
}

void http_pool_free(struct http_pool *pool)
{
	if (!pool)
		return;
	curl_multi_cleanup(pool->multi);
	curl_global_cleanup();
	free(pool);
}

void http_start(struct http_pool *pool, struct http_exchange *exchange)
{
	struct http_job *job = calloc(1, sizeof(*job));

	exchange->err = (struct pp_error)PP_ERROR_INIT;
	exchange->answer = (struct pp_buf)PP_BUF_INIT;
	exchange->retries = 0;
	exchange->job = job;
	if (!job) {
		pp_fail(&exchange->err, PP_ENOMEM, PP_NO_OFFSET, "no memory");
		if (exchange->done)
			exchange->done(exchange);
		return;
	}
	job->pool = pool;
	job->exchange = exchange;
	enqueue(job);
}

/* Begins what may begin. Returns how long until the next may, at most a second. */
static int64_t begin_waiting(struct http_pool *pool)
{
	int64_t now = now_ms(), soonest = 1000;

	for (struct http_job **at = &pool->waiting; *at;) {
		struct http_job *job = *at;
		if (pool->running >= pool->settings.parallel)
			break;
		if (job->not_before_ms > now) {
			if (job->not_before_ms - now < soonest)
				soonest = job->not_before_ms - now;
			at = &job->next;
			continue;
		}
		*at = job->next;
		if (!*at)
			pool->waiting_end = at;
		begin(job);
		if (job->exchange->err.code == PP_OK) {
			pool->running++;
			continue;
		}
		finish(job);
		at = &pool->waiting; /* done may have started others */
	}
	return soonest;
}

void http_run(struct http_pool *pool)
{
	while (pool->waiting || pool->running > 0) {
		int64_t wait_ms = begin_waiting(pool);
		int running, messages;
		if (!pool->waiting && pool->running == 0)
			break;
		curl_multi_perform(pool->multi, &running);
		for (CURLMsg *message; (message = curl_multi_info_read(pool->multi, &messages));) {
			void *job;
			if (message->msg != CURLMSG_DONE)
				continue;
			curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job);
			pool->running--;
			completed(job, message->data.result);
			wait_ms = 0;
		}
		if (wait_ms > 0)
			curl_multi_poll(pool->multi, NULL, 0, (int)wait_ms, NULL);
	}
}

void http_release(struct http_exchange *exchange)
{
	pp_buf_release(&exchange->answer);
}
